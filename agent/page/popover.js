/* SPDX-License-Identifier: Apache-2.0 */
/* A panel that opens below a button and closes by Escape, by a click elsewhere, or when it is done. The browser's own popover. */
(function (xagent) {
	"use strict";

	const MARGIN = 8;

	function place(button, panel) {
		const at = button.getBoundingClientRect();
		const width = panel.offsetWidth;
		const left = Math.max(MARGIN, Math.min(at.left, document.documentElement.clientWidth - width - MARGIN));
		panel.style.left = left + "px";
		panel.style.top = Math.max(MARGIN, Math.min(at.bottom + 4, window.innerHeight - panel.offsetHeight - MARGIN)) + "px";
	}

	/* onOpen fills the panel and says which element gets the focus (or nothing). */
	function attach(button, panel, onOpen) {
		panel.classList.add("popover");
		panel.setAttribute("popover", "auto");
		button.setAttribute("aria-haspopup", "dialog");
		button.setAttribute("aria-expanded", "false");
		button.popoverTargetElement = panel;
		panel.addEventListener("toggle", (event) => {
			const open = event.newState === "open";
			button.setAttribute("aria-expanded", String(open));
			if (!open)
				return;
			const first = onOpen && onOpen();
			place(button, panel);
			if (first)
				first.focus();
		});
		return {
			open: () => panel.matches(":popover-open") || panel.showPopover({ source: button }),
			close: () => panel.matches(":popover-open") && panel.hidePopover(),
			place: () => panel.matches(":popover-open") && place(button, panel),
		};
	}

	xagent.popover = { attach };
})((globalThis.xagent = globalThis.xagent || {}));
