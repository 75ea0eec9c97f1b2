import type { Scenario } from '../scenario.ts'

/** Uploads in chunks of one byte, which take six bytes each on the wire. */
export const tinyChunks: Scenario = {
  name: 'tiny-chunks',
  async run({ open, repeat, size, tokens }) {
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(size(500_000, 200_000)))
    await repeat({ atOnce: 3, most: 3 }, async (number) => {
      const { socket, told } = await open()
      const token = tokens[number % tokens.length]!
      socket.write(
        `POST /api/sync/files.php?action=upload&path=/tiny-${number} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
          'content-type: application/octet-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n',
      )
      socket.once('end', () => socket.end())
      socket.write(chunks)
      socket.write('0\r\n\r\n')
      await told
    })
  },
  allowed: /^(200|413|429|no answer)/,
  reached: /^(200|no answer)$/,
}
