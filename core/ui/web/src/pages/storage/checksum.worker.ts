// Computes the SHA-256 of a file beside the page, piece by piece: a whole file does not fit into memory.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** How much is read at once, in bytes. */
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
    // A file that was changed or taken away after it was chosen cannot be read.
    postMessage({ failed: caught instanceof Error ? caught.message : String(caught) })
  }
}
