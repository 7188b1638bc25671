/** A message as it is on the wire: values by field number. https://protobuf.dev/programming-guides/encoding/ */
export type Message = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Reads one message; inner messages are still bytes. Throws for what is none. */
export function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let offset = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new Error('the message ends in a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readBytes = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new Error('the message ends in a field');
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const readValue = (wireType: bigint): bigint | Buffer => {
    if (wireType === 0n) return readVarint();
    if (wireType === 1n) return readBytes(8);
    if (wireType === 2n) return readBytes(Number(readVarint()));
    if (wireType === 5n) return readBytes(4);
    throw new Error(`there is no wire type ${wireType}`);
  };
  while (offset < bytes.length) {
    const tag = readVarint();
    const field = Number(tag >> 3n);
    const values = fields.get(field) ?? [];
    values.push(readValue(tag & 7n));
    fields.set(field, values);
  }
  return fields;
}

/** The inner messages of a field. */
export function messagesOf(message: Message, field: number): Message[] {
  return bytesOf(message, field).map(readMessage);
}

/** The first value of a field as bytes. */
export function firstBytes(message: Message, field: number): Buffer {
  return bytesOf(message, field)[0] ?? Buffer.alloc(0);
}

/** The first value of a field as a number; 0 where it is not there. */
export function firstNumber(message: Message, field: number): number {
  return Number(firstInteger(message, field));
}

/** The first value of a field, exactly; 0 where it is not there. */
export function firstInteger(message: Message, field: number): bigint {
  const value = message.get(field)?.[0] ?? 0n;
  return typeof value === 'bigint' ? value : value.readBigUInt64LE();
}

function bytesOf(message: Message, field: number): Buffer[] {
  return (message.get(field) ?? []).filter((value) => typeof value !== 'bigint');
}
