/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling in its four modes, names that are none, and names made to be slow or huge. */
#include <errno.h>
#include <string.h>

#include "agent/object/demangle/demangle.h"
#include "agent/object/demangle/simplify.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	enum demangle_mode mode;
	const char *input;
	const char *expected;
};

static struct row rows[] = {
	{ DEMANGLE_NONE, "_Z3fooi.cold", "_Z3fooi.cold" },
	{ DEMANGLE_NONE, "foo.isra.0", "foo.isra.0" },
	{ DEMANGLE_NONE,
	  "a\xff"
	  "b\n",
	  "a\xef\xbf\xbd"
	  "b?" },
	{ DEMANGLE_SIMPLIFIED,
	  "a\xff"
	  "b\n",
	  "a\xef\xbf\xbd"
	  "b?" },
	{ DEMANGLE_SIMPLIFIED, "", "" },
	{ DEMANGLE_SIMPLIFIED, "main", "main" },
	{ DEMANGLE_SIMPLIFIED, "printf", "printf" },
	{ DEMANGLE_SIMPLIFIED, "__libc_start_main", "__libc_start_main" },
	{ DEMANGLE_SIMPLIFIED, "foo.cold", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.part.0", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.isra.0.cold", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.constprop.0.isra.12", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.lto_priv.3", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.llvm.1234567890", "foo" },
	{ DEMANGLE_SIMPLIFIED, "foo.avx2", "foo.avx2" },
	{ DEMANGLE_SIMPLIFIED, "main._omp_fn.0", "main._omp_fn.0" },
	{ DEMANGLE_SIMPLIFIED, ".cold", ".cold" },
	{ DEMANGLE_SIMPLIFIED, "main.main", "main.main" },
	{ DEMANGLE_SIMPLIFIED, "runtime.gcBgMarkWorker.func2", "runtime.gcBgMarkWorker.func2" },
	{ DEMANGLE_SIMPLIFIED, "_start", "_start" },
	{ DEMANGLE_SIMPLIFIED, "_Z", "_Z" },
	{ DEMANGLE_SIMPLIFIED, "_Z1", "_Z1" },
	{ DEMANGLE_SIMPLIFIED, "_ZN", "_ZN" },
	{ DEMANGLE_SIMPLIFIED, "_ZQQQ", "_ZQQQ" },
	{ DEMANGLE_SIMPLIFIED, "_R", "_R" },
	{ DEMANGLE_SIMPLIFIED, "_RNv", "_RNv" },
	{ DEMANGLE_SIMPLIFIED, "_D", "_D" },
	{ DEMANGLE_SIMPLIFIED, "_DYNAMIC", "_DYNAMIC" },
	{ DEMANGLE_SIMPLIFIED, "_Dfoo", "_Dfoo" },
	{ DEMANGLE_SIMPLIFIED, "_Z3foov", "foo" },
	{ DEMANGLE_FULL, "_Z3foov", "foo()" },
	{ DEMANGLE_SIMPLIFIED, "_Z3fooi", "foo" },
	{ DEMANGLE_FULL, "_Z3fooi", "foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_Z3fooi.cold", "foo" },
	{ DEMANGLE_FULL, "_Z3fooi.cold", "foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_Z3foov.part.0.cold", "foo" },
	{ DEMANGLE_FULL, "_Z3foov.part.0.cold", "foo()" },
	{ DEMANGLE_SIMPLIFIED, "_Z3fooi.unknown.7", "foo" },
	{ DEMANGLE_FULL, "_Z3fooi.unknown.7", "foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3foo3barEv", "foo::bar" },
	{ DEMANGLE_FULL, "_ZN3foo3barEv", "foo::bar()" },
	{ DEMANGLE_SIMPLIFIED, "_ZNK3Foo3getEi", "Foo::get" },
	{ DEMANGLE_FULL, "_ZNK3Foo3getEi", "Foo::get(int) const" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooC1Ei", "Foo::Foo" },
	{ DEMANGLE_FULL, "_ZN3FooC1Ei", "Foo::Foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooC2Ev", "Foo::Foo" },
	{ DEMANGLE_FULL, "_ZN3FooC2Ev", "Foo::Foo()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooD0Ev", "Foo::~Foo" },
	{ DEMANGLE_FULL, "_ZN3FooD0Ev", "Foo::~Foo()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN12_GLOBAL__N_14anonEi", "(anonymous namespace)::anon" },
	{ DEMANGLE_FULL, "_ZN12_GLOBAL__N_14anonEi", "(anonymous namespace)::anon(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN12_GLOBAL__N_12AnIiE1fEi", "(anonymous namespace)::An::f" },
	{ DEMANGLE_TEMPLATES, "_ZN12_GLOBAL__N_12AnIiE1fEi", "(anonymous namespace)::An<int>::f" },
	{ DEMANGLE_FULL, "_ZN12_GLOBAL__N_12AnIiE1fEi", "(anonymous namespace)::An<int>::f(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	  "std::operator<<" },
	{ DEMANGLE_TEMPLATES, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	  "std::operator<< <std::char_traits<char> >" },
	{ DEMANGLE_FULL, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	  "std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
	  "<std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char "
	  "const*)" },
	{ DEMANGLE_SIMPLIFIED, "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back" },
	{ DEMANGLE_TEMPLATES, "_ZNSt6vectorIiSaIiEE9push_backEOi",
	  "std::vector<int, std::allocator<int> >::push_back" },
	{ DEMANGLE_FULL, "_ZNSt6vectorIiSaIiEE9push_backEOi",
	  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE17_M_realloc_"
	  "insertIJRKS5_EEEvN9__gnu_cxx17__normal_iteratorIPS5_S7_EEDpOT_",
	  "std::vector::_M_realloc_insert" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_"
	  "ESaISt4pairIKS5_iEEEixERS9_",
	  "std::map::operator[]" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZSt4sortIN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEEEvT_S7_", "std::sort" },
	{ DEMANGLE_TEMPLATES,
	  "_ZSt4sortIN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEEEvT_S7_",
	  "std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > > "
	  ">" },
	{ DEMANGLE_SIMPLIFIED, "_ZNKSt8functionIFiiEEclEi", "std::function::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZNKSt8functionIFiiEEclEi", "std::function<int (int)>::operator()" },
	{ DEMANGLE_FULL, "_ZNKSt8functionIFiiEEclEi",
	  "std::function<int (int)>::operator()(int) const" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZNSt17_Function_handlerIFivEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data",
	  "std::_Function_handler::_M_invoke" },
	{ DEMANGLE_TEMPLATES, "_ZNSt17_Function_handlerIFivEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data",
	  "std::_Function_handler<int (), main::{lambda()#1}>::_M_invoke" },
	{ DEMANGLE_FULL, "_ZNSt17_Function_handlerIFivEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data",
	  "std::_Function_handler<int (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ5main2iENKUliE_clEi", "main2::{lambda(int)#1}::operator()" },
	{ DEMANGLE_FULL, "_ZZ5main2iENKUliE_clEi",
	  "main2(int)::{lambda(int)#1}::operator()(int) const" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ5main2iENKUlSt6vectorIiSaIiEEE0_clES1_",
	  "main2::{lambda(std::vector)#2}::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZZ5main2iENKUlSt6vectorIiSaIiEEE0_clES1_",
	  "main2::{lambda(std::vector<int, std::allocator<int> >)#2}::operator()" },
	{ DEMANGLE_FULL, "_ZZ5main2iENKUlSt6vectorIiSaIiEEE0_clES1_",
	  "main2(int)::{lambda(std::vector<int, std::allocator<int> "
	  ">)#2}::operator()(std::vector<int, std::allocator<int> >) const" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ5outerIiEDaT_ENKUlS0_E_clIiEEDaS0_",
	  "outer::{lambda(auto:1)#1}::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZZ5outerIiEDaT_ENKUlS0_E_clIiEEDaS0_",
	  "outer<int>::{lambda(auto:1)#1}::operator()<int>" },
	{ DEMANGLE_FULL, "_ZZ5outerIiEDaT_ENKUlS0_E_clIiEEDaS0_",
	  "auto outer<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const" },
	{ DEMANGLE_SIMPLIFIED, "_ZZNK12_GLOBAL__N_12AnIiE1fEiEN1L1gEi",
	  "(anonymous namespace)::An::f::L::g" },
	{ DEMANGLE_TEMPLATES, "_ZZNK12_GLOBAL__N_12AnIiE1fEiEN1L1gEi",
	  "(anonymous namespace)::An<int>::f::L::g" },
	{ DEMANGLE_FULL, "_ZZNK12_GLOBAL__N_12AnIiE1fEiEN1L1gEi",
	  "(anonymous namespace)::An<int>::f(int) const::L::g(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ5main2iE2st", "main2::st" },
	{ DEMANGLE_FULL, "_ZZ5main2iE2st", "main2(int)::st" },
	{ DEMANGLE_SIMPLIFIED, "_ZGVZ5main2iE2st", "guard variable for main2::st" },
	{ DEMANGLE_FULL, "_ZGVZ5main2iE2st", "guard variable for main2(int)::st" },
	{ DEMANGLE_SIMPLIFIED, "_ZTV3Foo", "vtable for Foo" },
	{ DEMANGLE_SIMPLIFIED, "_ZTI3Foo", "typeinfo for Foo" },
	{ DEMANGLE_SIMPLIFIED, "_ZThn8_N1X1wEv", "non-virtual thunk to X::w" },
	{ DEMANGLE_FULL, "_ZThn8_N1X1wEv", "non-virtual thunk to X::w()" },
	{ DEMANGLE_SIMPLIFIED, "_ZTv0_n24_N1X1wEv", "virtual thunk to X::w" },
	{ DEMANGLE_FULL, "_ZTv0_n24_N1X1wEv", "virtual thunk to X::w()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooltERKS_", "Foo::operator<" },
	{ DEMANGLE_FULL, "_ZN3FooltERKS_", "Foo::operator<(Foo const&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoolsEi", "Foo::operator<<" },
	{ DEMANGLE_FULL, "_ZN3FoolsEi", "Foo::operator<<(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoossERKS_", "Foo::operator<=>" },
	{ DEMANGLE_FULL, "_ZN3FoossERKS_", "Foo::operator<=>(Foo const&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoogtERKS_", "Foo::operator>" },
	{ DEMANGLE_FULL, "_ZN3FoogtERKS_", "Foo::operator>(Foo const&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoorsEi", "Foo::operator>>" },
	{ DEMANGLE_FULL, "_ZN3FoorsEi", "Foo::operator>>(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooptEv", "Foo::operator->" },
	{ DEMANGLE_FULL, "_ZN3FooptEv", "Foo::operator->()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoopmEi", "Foo::operator->*" },
	{ DEMANGLE_FULL, "_ZN3FoopmEi", "Foo::operator->*(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoocmEi", "Foo::operator," },
	{ DEMANGLE_FULL, "_ZN3FoocmEi", "Foo::operator,(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooixEi", "Foo::operator[]" },
	{ DEMANGLE_FULL, "_ZN3FooixEi", "Foo::operator[](int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoocvbEv", "Foo::operator bool" },
	{ DEMANGLE_FULL, "_ZN3FoocvbEv", "Foo::operator bool()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoonwEm", "Foo::operator new" },
	{ DEMANGLE_FULL, "_ZN3FoonwEm", "Foo::operator new(unsigned long)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooclIiEET_PS1_", "Foo::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZN3FooclIiEET_PS1_", "Foo::operator()<int>" },
	{ DEMANGLE_FULL, "_ZN3FooclIiEET_PS1_", "int Foo::operator()<int>(int*)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoolsIiEEvT_", "Foo::operator<<" },
	{ DEMANGLE_TEMPLATES, "_ZN3FoolsIiEEvT_", "Foo::operator<< <int>" },
	{ DEMANGLE_FULL, "_ZN3FoolsIiEEvT_", "void Foo::operator<< <int>(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FooltIiEEvT_", "Foo::operator<" },
	{ DEMANGLE_TEMPLATES, "_ZN3FooltIiEEvT_", "Foo::operator< <int>" },
	{ DEMANGLE_FULL, "_ZN3FooltIiEEvT_", "void Foo::operator< <int>(int)" },
	{ DEMANGLE_SIMPLIFIED, "_Znwm", "operator new" },
	{ DEMANGLE_FULL, "_Znwm", "operator new(unsigned long)" },
	{ DEMANGLE_SIMPLIFIED, "_ZdlPvm", "operator delete" },
	{ DEMANGLE_FULL, "_ZdlPvm", "operator delete(void*, unsigned long)" },
	{ DEMANGLE_SIMPLIFIED, "_Zli3_kmy", "operator\"\" _km" },
	{ DEMANGLE_FULL, "_Zli3_kmy", "operator\"\" _km(unsigned long long)" },
	{ DEMANGLE_SIMPLIFIED, "_Z5retfpIiEPFviET_", "retfp" },
	{ DEMANGLE_TEMPLATES, "_Z5retfpIiEPFviET_", "retfp<int>" },
	{ DEMANGLE_FULL, "_Z5retfpIiEPFviET_", "void (*retfp<int>(int))(int)" },
	{ DEMANGLE_SIMPLIFIED, "_Z2dtIiEDTplfp_Li1EET_", "dt" },
	{ DEMANGLE_TEMPLATES, "_Z2dtIiEDTplfp_Li1EET_", "dt<int>" },
	{ DEMANGLE_FULL, "_Z2dtIiEDTplfp_Li1EET_", "decltype ({parm#1}+(1)) dt<int>(int)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN2NNILi5ELb1EE1fEv", "NN::f" },
	{ DEMANGLE_TEMPLATES, "_ZN2NNILi5ELb1EE1fEv", "NN<5, true>::f" },
	{ DEMANGLE_FULL, "_ZN2NNILi5ELb1EE1fEv", "NN<5, true>::f()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3Foo1fB5cxx11Ev", "Foo::f[abi:cxx11]" },
	{ DEMANGLE_FULL, "_ZN3Foo1fB5cxx11Ev", "Foo::f[abi:cxx11]()" },
	{ DEMANGLE_SIMPLIFIED, "_ZNO3Foo1rEv", "Foo::r" },
	{ DEMANGLE_FULL, "_ZNO3Foo1rEv", "Foo::r() &&" },
	{ DEMANGLE_SIMPLIFIED, "_ZNKR3Foo1qEv", "Foo::q" },
	{ DEMANGLE_FULL, "_ZNKR3Foo1qEv", "Foo::q() const &" },
	{ DEMANGLE_SIMPLIFIED, "_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main" },
	{ DEMANGLE_SIMPLIFIED, "_ZL6statici", "static" },
	{ DEMANGLE_FULL, "_ZL6statici", "static(int)" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZSt13__invoke_implIvZ4mainEUliE_JiEET_St14__invoke_otherOT0_DpOT1_",
	  "std::__invoke_impl" },
	{ DEMANGLE_TEMPLATES, "_ZSt13__invoke_implIvZ4mainEUliE_JiEET_St14__invoke_otherOT0_DpOT1_",
	  "std::__invoke_impl<void, main::{lambda(int)#1}, int>" },
	{ DEMANGLE_FULL, "_ZSt13__invoke_implIvZ4mainEUliE_JiEET_St14__invoke_otherOT0_DpOT1_",
	  "void std::__invoke_impl<void, main::{lambda(int)#1}, int>(std::__invoke_other, "
	  "main::{lambda(int)#1}&&, int&&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN5boost4asio6detail9schedulerC2ERNS0_17execution_contextEib",
	  "boost::asio::detail::scheduler::scheduler" },
	{ DEMANGLE_FULL, "_ZN5boost4asio6detail9schedulerC2ERNS0_17execution_contextEib",
	  "boost::asio::detail::scheduler::scheduler(boost::asio::execution_context&, int, bool)" },
	{ DEMANGLE_SIMPLIFIED, "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
	  "core::fmt::Formatter::write_str" },
	{ DEMANGLE_SIMPLIFIED, "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
	  "core::ptr::drop_in_place" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
	  "core::ptr::drop_in_place" },
	{ DEMANGLE_TEMPLATES,
	  "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
	  "core::ptr::drop_in_place<alloc::string::String>" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "std::rt::lang_start::{{closure}}" },
	{ DEMANGLE_SIMPLIFIED, "_ZN4main5inner17h0123456789abcdefE.llvm.1234567890",
	  "main::inner" },
	{ DEMANGLE_SIMPLIFIED, "_RNvCs6GmmlP4bgsG_1r4main", "r::main" },
	{ DEMANGLE_SIMPLIFIED, "_RINvCs6GmmlP4bgsG_1r3genlKj3_EB2_", "r::gen" },
	{ DEMANGLE_TEMPLATES, "_RINvCs6GmmlP4bgsG_1r3genlKj3_EB2_", "r::gen::<i32, 3>" },
	{ DEMANGLE_SIMPLIFIED,
	  "_RINvMs_NtCs6GmmlP4bgsG_1r6shapesINtB5_6CircledE8inherentINtNtCslNYArtu3iFV_"
	  "5alloc3vec3VechEEB7_",
	  "<r::shapes::Circle>::inherent" },
	{ DEMANGLE_TEMPLATES,
	  "_RINvMs_NtCs6GmmlP4bgsG_1r6shapesINtB5_6CircledE8inherentINtNtCslNYArtu3iFV_"
	  "5alloc3vec3VechEEB7_",
	  "<r::shapes::Circle<f64>>::inherent::<alloc::vec::Vec<u8>>" },
	{ DEMANGLE_SIMPLIFIED, "_RNvCs6GmmlP4bgsG_1ru9bcher_kva", "r::bücher" },
	{ DEMANGLE_SIMPLIFIED, "_RNCNvCs6GmmlP4bgsG_1r4main0B3_", "r::main::{closure#0}" },
	{ DEMANGLE_SIMPLIFIED, "_RNCNvCs6GmmlP4bgsG_1r4main0B3_.cold", "r::main::{closure#0}" },
	{ DEMANGLE_SIMPLIFIED, "_D4test3fooFiZv", "test.foo" },
	{ DEMANGLE_FULL, "_D4test3fooFiZv", "test.foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_Dmain", "D main" },
	{ DEMANGLE_SIMPLIFIED, "_D4test4mainFZ6nestedMFiZv", "test.main.nested" },
	{ DEMANGLE_FULL, "_D4test4mainFZ6nestedMFiZv", "test.main().nested(int)" },
	{ DEMANGLE_SIMPLIFIED, "_D8demangle9anonymousZ", "demangle.anonymous" },
	{ DEMANGLE_SIMPLIFIED, "$s4main3fooyyF", "$s4main3fooyyF" },
	{ DEMANGLE_SIMPLIFIED, "_T0s5printyypd", "_T0s5printyypd" },
	{ DEMANGLE_SIMPLIFIED, "?foo@@YAXXZ", "?foo@@YAXXZ" },
	{ DEMANGLE_SIMPLIFIED, "Java_com_example_Foo_bar", "Java_com_example_Foo_bar" },
	{ DEMANGLE_SIMPLIFIED,
	  "_RINvNtCsgEmfK2I1SDS_4core4hint9black_boxNCNvXNtCs6GmmlP4bgsG_1r6shapesINtBH_"
	  "6CircledENtBH_4Area4area0EBJ_",
	  "core::hint::black_box" },
	{ DEMANGLE_TEMPLATES,
	  "_RINvNtCsgEmfK2I1SDS_4core4hint9black_boxNCNvXNtCs6GmmlP4bgsG_1r6shapesINtBH_"
	  "6CircledENtBH_4Area4area0EBJ_",
	  "core::hint::black_box::<<r::shapes::Circle<f64> as "
	  "r::shapes::Area>::area::{closure#0}>" },
	{ DEMANGLE_SIMPLIFIED, "_RINvYINtNtCs6GmmlP4bgsG_1r6shapes6CircledENtB6_4Area6scaledfEB8_",
	  "<r::shapes::Circle as r::shapes::Area>::scaled" },
	{ DEMANGLE_TEMPLATES, "_RINvYINtNtCs6GmmlP4bgsG_1r6shapes6CircledENtB6_4Area6scaledfEB8_",
	  "<r::shapes::Circle<f64> as r::shapes::Area>::scaled::<f32>" },
	{ DEMANGLE_SIMPLIFIED, "_RNCNvXNtCs6GmmlP4bgsG_1r6shapesINtB4_6CircledENtB4_4Area4area0B6_",
	  "<r::shapes::Circle as r::shapes::Area>::area::{closure#0}" },
	{ DEMANGLE_TEMPLATES, "_RNCNvXNtCs6GmmlP4bgsG_1r6shapesINtB4_6CircledENtB4_4Area4area0B6_",
	  "<r::shapes::Circle<f64> as r::shapes::Area>::area::{closure#0}" },
	{ DEMANGLE_SIMPLIFIED, "_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_6CircledENtB2_4Area4areaB4_",
	  "<r::shapes::Circle as r::shapes::Area>::area" },
	{ DEMANGLE_TEMPLATES, "_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_6CircledENtB2_4Area4areaB4_",
	  "<r::shapes::Circle<f64> as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED, "_RNvXs0_NtCs6GmmlP4bgsG_1r6shapesAhj3_NtB5_4Area4area",
	  "<[u8; 3] as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED, "_RNvXs1_NtCs6GmmlP4bgsG_1r6shapesReNtB5_4Area4area",
	  "<&str as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED, "_RNvXs2_NtCs6GmmlP4bgsG_1r6shapesFmEyNtB5_4Area4area",
	  "<fn(u32) -> u64 as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED,
	  "_RNvXs3_NtCs6GmmlP4bgsG_1r6shapesThINtNtCslNYArtu3iFV_5alloc3vec3VecNtNtBB_"
	  "6string6StringEENtB5_4Area4area",
	  "<(u8, alloc::vec::Vec) as r::shapes::Area>::area" },
	{ DEMANGLE_TEMPLATES,
	  "_RNvXs3_NtCs6GmmlP4bgsG_1r6shapesThINtNtCslNYArtu3iFV_5alloc3vec3VecNtNtBB_"
	  "6string6StringEENtB5_4Area4area",
	  "<(u8, alloc::vec::Vec<alloc::string::String>) as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED,
	  "_RNvXs4_NtCs6GmmlP4bgsG_1r6shapesDINtNtNtCsgEmfK2I1SDS_"
	  "4core3ops8function2FnTlEEp6OutputlEL_NtB5_4Area4area",
	  "<dyn core::ops::function::Fn as r::shapes::Area>::area" },
	{ DEMANGLE_TEMPLATES,
	  "_RNvXs4_NtCs6GmmlP4bgsG_1r6shapesDINtNtNtCsgEmfK2I1SDS_"
	  "4core3ops8function2FnTlEEp6OutputlEL_NtB5_4Area4area",
	  "<dyn core::ops::function::Fn<(i32,), Output = i32> as r::shapes::Area>::area" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
	  "4drop17h0123456789abcdefE",
	  "<alloc::vec::Vec as core::ops::drop::Drop>::drop" },
	{ DEMANGLE_TEMPLATES,
	  "_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
	  "4drop17h0123456789abcdefE",
	  "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN4core3fmt3num50_$LT$impl$u20$core..fmt..Debug$u20$for$u20$i32$GT$"
	  "3fmt17h0123456789abcdefE",
	  "core::fmt::num::<impl core::fmt::Debug for i32>::fmt" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN55_$LT$$RF$str$u20$as$u20$core..str..pattern..Pattern$GT$"
	  "7matches17h0123456789abcdefE",
	  "<&str as core::str::pattern::Pattern>::matches" },
	{ DEMANGLE_SIMPLIFIED, "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$7reserve17h0123456789abcdefE",
	  "alloc::raw_vec::RawVec::reserve" },
	{ DEMANGLE_TEMPLATES, "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$7reserve17h0123456789abcdefE",
	  "alloc::raw_vec::RawVec<T,A>::reserve" },
	{ DEMANGLE_SIMPLIFIED, "_D3std4conv__T2toTAyaZ__TQkTiZQpFNfiZQn",
	  "_D3std4conv__T2toTAyaZ__TQkTiZQpFNfiZQn" },
	{ DEMANGLE_SIMPLIFIED, "_D4test__T3fooTiZQhFiZv", "test.foo.foo" },
	{ DEMANGLE_TEMPLATES, "_D4test__T3fooTiZQhFiZv", "test.foo!(int).foo" },
	{ DEMANGLE_FULL, "_D4test__T3fooTiZQhFiZv", "test.foo!(int).foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_D4test__T3fooVii3ZQjFiZv", "test.foo.foo" },
	{ DEMANGLE_TEMPLATES, "_D4test__T3fooVii3ZQjFiZv", "test.foo!(3).foo" },
	{ DEMANGLE_FULL, "_D4test__T3fooVii3ZQjFiZv", "test.foo!(3).foo(int)" },
	{ DEMANGLE_SIMPLIFIED, "_D3app4mainFZ__T3fooTAyaZQkMFQnZv",
	  "_D3app4mainFZ__T3fooTAyaZQkMFQnZv" },
	{ DEMANGLE_SIMPLIFIED, "_D4test3barFAyaHiAaZPFiZi", "test.bar" },
	{ DEMANGLE_FULL, "_D4test3barFAyaHiAaZPFiZi", "test.bar(immutable(char)[], char[][int])" },
	{ DEMANGLE_SIMPLIFIED, "_D6object9Throwable8toStringMxFZAya", "object.Throwable.toString" },
	{ DEMANGLE_FULL, "_D6object9Throwable8toStringMxFZAya",
	  "object.Throwable.toString() const" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoocvSt6vectorIiSaIiEEEv", "Foo::operator std::vector" },
	{ DEMANGLE_TEMPLATES, "_ZN3FoocvSt6vectorIiSaIiEEEv",
	  "Foo::operator std::vector<int, std::allocator<int> >" },
	{ DEMANGLE_FULL, "_ZN3FoocvSt6vectorIiSaIiEEEv",
	  "Foo::operator std::vector<int, std::allocator<int> >()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3FoocvPT_IiEEv", "Foo::operator int*" },
	{ DEMANGLE_TEMPLATES, "_ZN3FoocvPT_IiEEv", "Foo::operator int*<int>" },
	{ DEMANGLE_FULL, "_ZN3FoocvPT_IiEEv", "Foo::operator int*<int>()" },
	{ DEMANGLE_SIMPLIFIED, "_ZN1SILi1EEltILi2EEEbRKS_IXT_EE", "S::operator<" },
	{ DEMANGLE_TEMPLATES, "_ZN1SILi1EEltILi2EEEbRKS_IXT_EE", "S<1>::operator< <2>" },
	{ DEMANGLE_FULL, "_ZN1SILi1EEltILi2EEEbRKS_IXT_EE",
	  "bool S<1>::operator< <2>(S<2> const&)" },
	{ DEMANGLE_SIMPLIFIED, "_Z1fILb1EEvv", "f" },
	{ DEMANGLE_TEMPLATES, "_Z1fILb1EEvv", "f<true>" },
	{ DEMANGLE_FULL, "_Z1fILb1EEvv", "void f<true>()" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
	{ DEMANGLE_FULL, "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
	{ DEMANGLE_SIMPLIFIED, "_ZN12_GLOBAL__N_11SclEv", "(anonymous namespace)::S::operator()" },
	{ DEMANGLE_FULL, "_ZN12_GLOBAL__N_11SclEv", "(anonymous namespace)::S::operator()()" },
	{ DEMANGLE_SIMPLIFIED, "_ZNK1AILi3EEcvT_IbEEv", "A::operator bool" },
	{ DEMANGLE_TEMPLATES, "_ZNK1AILi3EEcvT_IbEEv", "A<3>::operator bool<bool>" },
	{ DEMANGLE_FULL, "_ZNK1AILi3EEcvT_IbEEv", "A<3>::operator bool<bool>() const" },
	{ DEMANGLE_SIMPLIFIED, "_ZZ1fIiEvT_ENKUlvE_clEv", "f::{lambda()#1}::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZZ1fIiEvT_ENKUlvE_clEv", "f<int>::{lambda()#1}::operator()" },
	{ DEMANGLE_FULL, "_ZZ1fIiEvT_ENKUlvE_clEv",
	  "f<int>(int)::{lambda()#1}::operator()() const" },
	{ DEMANGLE_SIMPLIFIED, "_Z1gI1SIXgtLi3ELi2EEEEvT_", "g" },
	{ DEMANGLE_TEMPLATES, "_Z1gI1SIXgtLi3ELi2EEEEvT_", "g<S<((3)>(2))> >" },
	{ DEMANGLE_FULL, "_Z1gI1SIXgtLi3ELi2EEEEvT_", "void g<S<((3)>(2))> >(S<((3)>(2))>)" },
	{ DEMANGLE_SIMPLIFIED,
	  "_ZN4absl12lts_2022062318container_internal12raw_hash_setINS1_"
	  "17FlatHashMapPolicyIiiEENS1_6HashImIiEESt8equal_toIiESaISt4pairIKiiEEE6resizeEm",
	  "absl::lts_20220623::container_internal::raw_hash_set::resize" },
	{ DEMANGLE_SIMPLIFIED, "_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB8ne180100EOi",
	  "std::__1::vector::push_back[abi:ne180100]" },
	{ DEMANGLE_TEMPLATES, "_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB8ne180100EOi",
	  "std::__1::vector<int, std::__1::allocator<int> >::push_back[abi:ne180100]" },
	{ DEMANGLE_FULL, "_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB8ne180100EOi",
	  "std::__1::vector<int, std::__1::allocator<int> >::push_back[abi:ne180100](int&&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZGR1x_", "reference temporary #0 for x" },
	{ DEMANGLE_FULL, "_ZGR1x_", "_ZGR1x_" },
	{ DEMANGLE_SIMPLIFIED, "_ZTW1x", "TLS wrapper function for x" },
	{ DEMANGLE_SIMPLIFIED, "_ZTH1x", "TLS init function for x" },
	{ DEMANGLE_SIMPLIFIED, "_ZN3Foo3barEv@plt", "Foo::bar" },
	{ DEMANGLE_FULL, "_ZN3Foo3barEv@plt", "_ZN3Foo3barEv@plt" },
	{ DEMANGLE_SIMPLIFIED, "_Z3fooPFivE", "foo" },
	{ DEMANGLE_FULL, "_Z3fooPFivE", "foo(int (*)())" },
	{ DEMANGLE_SIMPLIFIED, "_Z3fooRKSt8functionIFvP3FooEE", "foo" },
	{ DEMANGLE_FULL, "_Z3fooRKSt8functionIFvP3FooEE",
	  "foo(std::function<void (Foo*)> const&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move" },
	{ DEMANGLE_TEMPLATES, "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
	  "std::move<int&>" },
	{ DEMANGLE_FULL, "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
	  "std::remove_reference<int&>::type&& std::move<int&>(int&)" },
	{ DEMANGLE_SIMPLIFIED, "_ZNKSt6ranges8__detail6_EmptyILi1EEclEv",
	  "std::ranges::__detail::_Empty::operator()" },
	{ DEMANGLE_TEMPLATES, "_ZNKSt6ranges8__detail6_EmptyILi1EEclEv",
	  "std::ranges::__detail::_Empty<1>::operator()" },
	{ DEMANGLE_FULL, "_ZNKSt6ranges8__detail6_EmptyILi1EEclEv",
	  "std::ranges::__detail::_Empty<1>::operator()() const" },
	{ DEMANGLE_SIMPLIFIED, "_Z1fv.resolver", "f" },
	{ DEMANGLE_FULL, "_Z1fv.resolver", "f()" },
	{ DEMANGLE_SIMPLIFIED, "_Z1fv.avx2", "f" },
	{ DEMANGLE_FULL, "_Z1fv.avx2", "f()" },
};

static void demangles(void **state)
{
	const struct row *row = *state;
	struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);

	assert_int_equal(demangle(str_from(row->input), row->mode, &out), 0);
	assert_string_equal(buf_str(&out), row->expected);
	buf_fini(&out);
}

struct simplify_row {
	bool (*simplify)(struct str text, bool keep_templates, struct buf *out);
	bool keep_templates;
	const char *input;
	const char *expected; /* NULL: refused */
};

static bool rust(struct str text, bool keep_templates, struct buf *out)
{
	(void)keep_templates;
	return simplify_rust(text, out);
}

static struct simplify_row simplify_rows[] = {
	{ simplify_cxx, false, "a<b", NULL },
	{ simplify_cxx, false, "a(b", NULL },
	{ simplify_cxx, false, "a<(b>)", NULL },
	{ simplify_cxx, false, "a{b", NULL },
	{ simplify_cxx, false, "a>b", "a>b" },
	{ simplify_cxx, false, "f<(1>2)>::g", "f::g" },
	{ simplify_cxx, false, "f<&S::operator< >::g", "f::g" },
	{ simplify_cxx, false, "f<&(S::operator>>(int))>::g", "f::g" },
	{ simplify_cxx, false, "f<decltype (a->b)>::g", "f::g" },
	{ simplify_cxx, false, "f() const volatile &&::g", "f::g" },
	{ simplify_cxx, false, "f(int) constant", "f constant" },
	{ simplify_cxx, false, "operatorx<int>::f", "operatorx::f" },
	{ simplify_cxx, false, "my_operator<int>::f", "my_operator::f" },
	{ simplify_cxx, false, "S::operator()<int>(int)::x", "S::operator()::x" },
	{ simplify_cxx, false, "f::{lambda(int (*)(A<int>))#1}::operator()",
	  "f::{lambda(int (*)(A))#1}::operator()" },
	{ simplify_cxx, false, "f(int)::{lambda({lambda(A<b>)#1})#2}::g(int)",
	  "f::{lambda({lambda(A)#1})#2}::g" },
	{ simplify_cxx, true, "f<int>(int)::g<a<b> >", "f<int>::g<a<b> >" },
	{ simplify_cxx, false, "(anonymous namespace)::f<(anonymous namespace)::T>",
	  "(anonymous namespace)::f" },
	{ simplify_cxx, false, "a<b>::(anonymous namespace)::f(int)",
	  "a::(anonymous namespace)::f" },
	{ rust, false, "<a::B<c> as d::E<f>>::g", "<a::B as d::E>::g" },
	{ rust, false, "a::b::<c, d<e>>::{closure#0}", "a::b::{closure#0}" },
	{ rust, false, "a::<impl b::C<d> for e>::f", "a::<impl b::C for e>::f" },
	{ rust, false, "<fn(A<b>) -> C<d> as E>::f", "<fn(A) -> C as E>::f" },
	{ rust, false, "<<a as B<c>>::D as E>::f", "<<a as B>::D as E>::f" },
	{ rust, false, "a<b", NULL },
	{ simplify_d, false, "a.b!(c, d!(e)).f(int).g", "a.b.f.g" },
	{ simplify_d, false, "a.b!int.c(int) const", "a.b.c" },
	{ simplify_d, true, "a.b!(c).f(int)", "a.b!(c).f" },
	{ simplify_d, false, "a.b!(c", NULL },
};

static void simplifies(void **state)
{
	const struct simplify_row *row = *state;
	struct buf out = BUF_INIT(1024);
	bool ok = row->simplify(str_from(row->input), row->keep_templates, &out);

	assert_int_equal(ok, row->expected != NULL);
	if (ok)
		assert_string_equal(buf_str(&out), row->expected);
	buf_fini(&out);
}

static void brackets_at_the_ceiling(void **state)
{
	char text[2 * SIMPLIFY_MAX_DEPTH + 4];
	struct buf out = BUF_INIT(1024);

	(void)state;
	for (size_t depth = SIMPLIFY_MAX_DEPTH; depth <= SIMPLIFY_MAX_DEPTH + 1; depth++) {
		text[0] = 'f';
		memset(text + 1, '<', depth);
		memset(text + 1 + depth, '>', depth);
		buf_reset(&out);
		assert_int_equal(simplify_cxx((struct str){ text, 1 + 2 * depth }, false, &out),
				 depth == SIMPLIFY_MAX_DEPTH);
	}
	buf_fini(&out);
}

static void full_buffer_is_refused(void **state)
{
	struct buf out = BUF_INIT(4);

	(void)state;
	assert_false(simplify_cxx(STR_LIT("abcdefgh"), false, &out));
	buf_fini(&out);
	assert_int_equal(demangle(STR_LIT("abcdefgh"), DEMANGLE_SIMPLIFIED, &out), -ENOBUFS);
	buf_fini(&out);
}

/* Demangles, checks that it is quick and bounded, and returns whether the name stayed as it was. */
static bool stays(const char *name)
{
	struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);
	bool same = true;

	for (int mode = DEMANGLE_SIMPLIFIED; mode < DEMANGLE_MODE_MAX; mode++) {
		uint64_t begin = clock_mono_ns();

		assert_int_equal(demangle(str_from(name), (enum demangle_mode)mode, &out), 0);
		assert_true(clock_mono_ns() - begin < 2 * NS_PER_S);
		assert_true(out.len < DEMANGLE_MAX_RESULT_BYTES);
		assert_true(str_is_utf8((struct str){ out.data, out.len }));
		same &= strncmp(out.data, name, 100) == 0;
	}
	buf_fini(&out);
	return same;
}

/* Names in which each level holds the one before twice: 2^30 types and more in 300 bytes. */
static void doubling(void **state)
{
	static const char cxx[] =
		"_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_"
		"S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_"
		"ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL"
		"_ES_ISM_SM_ES_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_ES_IS"
		"T_ST_E";
	static const char rust[] =
		"_RINvC1a1fTllETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX"
		"_ETB15_B15_ETB1d_B1d_ETB1n_B1n_ETB1x_B1x_ETB1H_B1H_ETB1R_B1R_ETB21_B21_ETB2b"
		"_B2b_ETB2l_B2l_ETB2v_B2v_ETB2F_B2F_ETB2P_B2P_ETB2Z_B2Z_ETB39_B39_ETB3j_B3j_E"
		"TB3t_B3t_ETB3D_B3D_ETB3N_B3N_ETB3X_B3X_ETB47_B47_ETB4h_B4h_EE";
	static const char d[] =
		"_D1a1fFB2iiB2QgQi"
		"B2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQk"
		"B2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkB2QiQkZv";
	struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);

	(void)state;
	assert_true(stays(rust));
	assert_true(stays(d));
	/* Without its parameters the C++ name is a short one. */
	assert_false(stays(cxx));
	assert_int_equal(demangle(str_from(cxx), DEMANGLE_FULL, &out), 0);
	assert_string_equal(out.data, cxx);
	assert_int_equal(demangle(str_from(cxx), DEMANGLE_SIMPLIFIED, &out), 0);
	assert_string_equal(out.data, "f");
	/* Nine levels are long, but not too long to be cut. */
	assert_int_equal(demangle(STR_LIT("_RINvC1a1fTllETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_"
					  "ETBH_BH_ETBP_BP_ETBX_BX_EE"),
				  DEMANGLE_FULL, &out),
			 0);
	assert_true(str_ends_with((struct str){ out.data, out.len }, STR_LIT("…")));
	buf_fini(&out);
}

static void deep_nesting(void **state)
{
	char name[DEMANGLE_MAX_NAME_BYTES + 1];
	static const char *const bricks[] = { "P",   "N1a", "A1_", "1AI", "F",
					      "Z1f", "IJ",  "X",   "M",	  "U1a" };

	(void)state;
	for (size_t b = 0; b < ARRAY_SIZE(bricks); b++) {
		size_t n = strlen(bricks[b]);

		for (int language = 0; language < 3; language++) {
			size_t len = (size_t)snprintf(name, sizeof(name), "%s",
						      language == 0   ? "_Z1f"
						      : language == 1 ? "_RINvC1a1f"
								      : "_D1a1fF");

			while (len + n < sizeof(name)) {
				memcpy(name + len, bricks[b], n);
				len += n;
			}
			name[len] = '\0';
			(void)stays(name);
			name[1000] = '\0';
			(void)stays(name);
		}
	}
}

static void long_names(void **state)
{
	size_t n = DEMANGLE_MAX_NAME_BYTES + 100;
	char *name = malloc(n + 1);
	struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);

	(void)state;
	assert_non_null(name);
	memset(name, 'x', n);
	name[n] = '\0';
	memcpy(name, "_Z3foov", 7);
	assert_int_equal(demangle((struct str){ name, n }, DEMANGLE_SIMPLIFIED, &out), 0);
	assert_true(out.len < DEMANGLE_MAX_RESULT_BYTES);
	assert_true(str_ends_with((struct str){ out.data, out.len }, STR_LIT("x…")));
	buf_fini(&out);
	free(name);
}

static void nul_inside(void **state)
{
	struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);

	(void)state;
	assert_int_equal(demangle((struct str){ "_Z3fo\0v", 7 }, DEMANGLE_SIMPLIFIED, &out), 0);
	assert_string_equal(out.data, "_Z3fo?v");
	buf_fini(&out);
}

static void modes_by_name(void **state)
{
	enum demangle_mode mode = DEMANGLE_NONE;

	(void)state;
	for (int i = 0; i < DEMANGLE_MODE_MAX; i++) {
		assert_true(demangle_mode_parse(str_from(demangle_mode_text((enum demangle_mode)i)),
						&mode));
		assert_int_equal(mode, i);
	}
	assert_false(demangle_mode_parse(STR_LIT("Full"), &mode));
	assert_false(demangle_mode_parse(STR_LIT(""), &mode));
}

static const struct unit_test tests[] = {
	TEST_ROWS(demangles, rows, input),
	TEST_ROWS(simplifies, simplify_rows, input),
	TEST(brackets_at_the_ceiling),
	TEST(full_buffer_is_refused),
	TEST(doubling),
	TEST(deep_nesting),
	TEST(long_names),
	TEST(nul_inside),
	TEST(modes_by_name),
};

TEST_MAIN(tests)
