/** The lines of the icons, on a ground of 24 by 24. */
export const icons = {
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.6-6 8-6s8 2 8 6',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v6M12 7.5v.5',
  guests: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  jobs: 'M4 6h10M4 12h16M4 18h7M17 16l4 2.5-4 2.5z',
  start: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2',
  sort: 'M8 10l4-5 4 5M8 14l4 5 4-5',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  out: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.5',
} as const

export type IconName = keyof typeof icons
