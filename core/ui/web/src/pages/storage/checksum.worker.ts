// Computes the SHA-256 of a file outside of the page's thread, piece by piece, because a whole file does not fit into memory.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** How many bytes are read at once. */
const piece = 4 << 20

onmessage = async ({ data: file }: MessageEvent<Blob>) => {
  try {
    const hash = sha256.create()
    for (let at = 0; at < file.size; at += piece) {
      hash.update(new Uint8Array(await file.slice(at, at + piece).arrayBuffer()))
      postMessage({ read: Math.min(at + piece, file.size) })
    }
    postMessage({ sum: bytesToHex(hash.digest()) })
  } catch (caught) {
    // A file that was changed or removed after it was selected cannot be read.
    postMessage({ failed: caught instanceof Error ? caught.message : String(caught) })
  }
}
