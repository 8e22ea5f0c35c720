// SPDX-License-Identifier: Apache-2.0
// Templates, virtual calls, and an exception for each piece of work. usage: shapes SECONDS
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "load.h"

namespace
{

struct Shape {
	virtual ~Shape() = default;
	virtual bool draw(uint64_t end_ns) = 0;
};

LOAD_FUNCTION bool paint(uint64_t end_ns)
{
	if (load_turn(end_ns))
		throw std::runtime_error("more");
	return false;
}

template <int Sides> struct Polygon : Shape {
	LOAD_FUNCTION bool draw(uint64_t end_ns) override
	{
		try {
			return paint(end_ns);
		} catch (const std::runtime_error &) {
			return true;
		}
	}
};

template <typename Items> LOAD_FUNCTION bool draw_all(const Items &items, uint64_t end_ns)
{
	bool more = true;

	for (const auto &item : items)
		more = item->draw(end_ns) && more;
	return more;
}

LOAD_FUNCTION void chain()
{
	static std::vector<std::unique_ptr<Shape>> shapes;

	if (shapes.empty()) {
		shapes.push_back(std::make_unique<Polygon<3>>());
		shapes.push_back(std::make_unique<Polygon<4>>());
	}
	for (uint64_t end = load_share_end_ns(); draw_all(shapes, end);)
		;
}

} // namespace

int main(int argc, char **argv)
{
	load_run(argc > 1 ? static_cast<unsigned int>(std::atoi(argv[1])) : 10, chain);
	return 0;
}
