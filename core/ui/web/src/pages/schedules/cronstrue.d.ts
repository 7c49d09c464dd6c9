/** It adds its words to cronstrue; nothing else of it is used. */
declare module 'cronstrue/locales/de'
