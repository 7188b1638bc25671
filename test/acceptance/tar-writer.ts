/**
 * Writes archives as the layers of images have them: files, folders, symbolic and hard links, and whiteouts. It shares nothing with the program, so that a fault of
 * one is not hidden by the same fault of the other. https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html
 */

/** One entry of a layer. */
export interface Entry {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'symlink' | 'hardlink';
  readonly mode: number;
  readonly content?: Buffer;
  /** What a link leads to. */
  readonly to?: string;
}

const types = { file: '0', hardlink: '1', symlink: '2', folder: '5', extended: 'x' } as const;
const blockSize = 512;

export const file = (path: string, text: string, mode = 0o644): Entry => ({ path, type: 'file', mode, content: Buffer.from(text) });
export const folder = (path: string, mode = 0o755): Entry => ({ path: `${path}/`, type: 'folder', mode });
export const symlink = (path: string, to: string): Entry => ({ path, type: 'symlink', mode: 0o777, to });
export const hardlink = (path: string, to: string): Entry => ({ path, type: 'hardlink', mode: 0o644, to });

/** Removes a path of the layers below. https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts */
export function removed(path: string): Entry {
  const slash = path.lastIndexOf('/') + 1;
  return file(`${path.slice(0, slash)}.wh.${path.slice(slash)}`, '');
}

/** Removes all that the layers below have in a folder. */
export const emptied = (path: string): Entry => file(`${path}/.wh..wh..opq`, '');

/** An archive of the entries. */
export function writeTar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap((entry) => [...longNames(entry), header(entry, types[entry.type]), padded(entry.content)]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]);
}

/** Names that do not fit the fields of a header come in an entry of their own before it. */
function longNames({ path, to = '' }: Entry): Buffer[] {
  const records = [...(path.length > 100 ? [record('path', path)] : []), ...(to.length > 100 ? [record('linkpath', to)] : [])].join('');
  if (records === '') return [];
  const content = Buffer.from(records);
  return [header({ path: 'PaxHeaders/entry', type: 'file', mode: 0o644, content }, types.extended), padded(content)];
}

/** A record begins with its own length. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length;
  return `${length}${rest}`;
}

function header({ path, mode, content, to = '' }: Entry, type: string): Buffer {
  const fields = [
    text(path, 100),
    octal(mode, 8),
    octal(0, 8),
    octal(0, 8),
    octal(content?.length ?? 0, 12),
    octal(1_767_225_600, 12),
    ' '.repeat(8),
    type,
    text(to, 100),
    'ustar\0',
    '00',
    text('root', 32),
    text('root', 32),
    octal(0, 8),
    octal(0, 8),
    text('', 155),
  ].join('');
  const block = Buffer.from(fields.padEnd(blockSize, '\0'), 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(octal(sum, 8), 148, 'latin1');
  return block;
}

const text = (value: string, width: number) => value.slice(0, width).padEnd(width, '\0');
const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;

function padded(content: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([content, Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize)]);
}
