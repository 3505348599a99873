"""The four things that happen: answer, relist, reload, mirror. No state but what each owns; every decision is in another room."""
