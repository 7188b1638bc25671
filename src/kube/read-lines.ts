// etcd holds no object above 1.5 MiB by default; a line that never ends must not fill the memory.
const maxLineLength = 32 * 1024 * 1024;

/** The complete, non-empty lines of a byte stream. What follows the last newline is dropped: the sender was cut off in the middle of it. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw new Error(`a line is longer than ${maxLineLength} characters`);
    for (const line of lines) if (line.trim() !== '') yield line;
  }
}
