/** Reads the ASCII armor of OpenPGP (RFC 9580 §6.2) and messages that are signed in clear text (§7). Both throw an Error that says what is wrong. */

/** A message that is signed in clear text. */
export interface ClearSigned {
  /** The text as it was signed: lines without trailing spaces and tabs, joined by CRLF. */
  readonly text: string;
  /** The packets of the signature at the end of the message. */
  readonly signature: Buffer;
}

const beginMessage = '-----BEGIN PGP SIGNED MESSAGE-----';
const header = /^[A-Za-z][A-Za-z0-9-]*:(?: .*)?$/;
const checksum = /^=[A-Za-z0-9+/]{4}$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** The only header that says nothing about the text; the hash that counts is in the signature. */
const hashHeader = /^Hash: [A-Za-z0-9, -]+$/;

/** The packets of all blocks of public keys in a text. What is between the blocks counts as comment. */
export function readKeyBlocks(text: string): Buffer {
  const lines = linesOf(text);
  const blocks: Buffer[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.startsWith('-----BEGIN PGP PRIVATE KEY'))
      throw new Error('it is a private key: use the public key (gpg --export --armor)');
    if (lines[at] !== '-----BEGIN PGP PUBLIC KEY BLOCK-----') continue;
    const { bytes, next } = readBlock(lines, at, 'PUBLIC KEY BLOCK');
    blocks.push(bytes);
    at = next - 1;
  }
  if (blocks.length === 0) throw new Error('it holds no key of OpenPGP in ASCII form (-----BEGIN PGP PUBLIC KEY BLOCK-----)');
  return Buffer.concat(blocks);
}

/** A text that is nothing but one message that is signed in clear text: whatever is before or after it would not be signed. */
export function readClearSigned(bytes: Buffer): ClearSigned {
  const lines = linesOf(decode(bytes));
  if (lines[0] !== beginMessage) throw new Error('it does not begin as a message that is signed in clear text');
  let at = 1;
  for (; lines[at] !== ''; at++) if (!hashHeader.test(lines[at] ?? '')) throw new Error('its header has another line than the hash');
  const signed: string[] = [];
  for (at++; lines[at] !== '-----BEGIN PGP SIGNATURE-----'; at++) {
    const line = lines[at];
    if (line === undefined) throw new Error('it has no signature');
    if (line.startsWith('-') && !line.startsWith('- ')) throw new Error('a line of its text begins with a dash that is not escaped');
    signed.push(line.startsWith('- ') ? line.slice(2) : line);
  }
  const { bytes: signature, next } = readBlock(lines, at, 'SIGNATURE');
  if (lines.slice(next).some((line) => line !== '')) throw new Error('there is a text after its signature');
  return { text: signed.join('\r\n'), signature };
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Error('it is not a text in UTF-8', { cause: error });
  }
}

/** The lines without their ends, and without spaces and tabs there, which mail programs change. */
function linesOf(text: string): string[] {
  return text.split('\n').map((line) => {
    let length = line.length;
    while (length > 0 && ' \t\r'.includes(line[length - 1] ?? '-')) length--;
    return line.slice(0, length);
  });
}

/** Reads the block that begins at a line; `next` is the line after it. Its checksum is left out, as RFC 9580 has it: the signatures protect the bytes. */
function readBlock(lines: readonly string[], begin: number, type: string): { bytes: Buffer; next: number } {
  let at = begin + 1;
  while (header.test(lines[at] ?? '')) at++;
  if (lines[at] !== '') throw new Error('its armor has no empty line after the headers');
  const end = lines.indexOf(`-----END PGP ${type}-----`, at);
  if (end < 0) throw new Error('its armor has no end');
  const body = lines.slice(at + 1, end);
  const data = (checksum.test(body.at(-1) ?? '') ? body.slice(0, -1) : body).join('');
  if (data === '' || !base64.test(data)) throw new Error('its armor is not Base64');
  return { bytes: Buffer.from(data, 'base64'), next: end + 1 };
}
