import { mount } from 'svelte'
import App from './app/App.svelte'
import './app/tokens.css'
import { settled } from './words/words'

// A chunk that no longer exists belongs to an older version of the page: reload the page once.
addEventListener('vite:preloadError', (event) => {
  const name = 'hostler.reloaded'
  if (sessionStorage.getItem(name) === import.meta.url) return
  sessionStorage.setItem(name, import.meta.url)
  event.preventDefault()
  location.reload()
})

void settled(App).then((whole) => mount(whole, { target: document.getElementById('page')! }))
