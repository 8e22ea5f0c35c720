# SPDX-License-Identifier: Apache-2.0
"""What the integration tests share: processes that end, readers of what the agent writes, servers to write to."""
