/** Debian's Chromium without a window of its own, which takes a sixth less of the processor; another one for a machine that has it elsewhere. */
export const chromium = process.env.HOSTLER_CHROMIUM ?? '/usr/bin/chromium-headless-shell'
