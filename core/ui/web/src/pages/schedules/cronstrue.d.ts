/** It brings its words to cronstrue, and has nothing else that is used. */
declare module 'cronstrue/locales/de'
