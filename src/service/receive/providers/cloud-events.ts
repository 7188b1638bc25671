/** Reads CloudEvents 1.0 from the structured, binary and batched modes of the HTTP protocol binding: https://github.com/cloudevents/spec */
import { z } from 'zod';
import { filled, limitedText, optionalText, parseJsonBody, readEntries } from './read-payload.ts';
import { headerOf } from './headers.ts';
import { MalformedBody, type Delivery } from './provider.ts';

/** The attributes of a CloudEvent that providers use, and its unvalidated data. */
export interface CloudEvent {
  readonly type: string;
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  readonly subject?: string | undefined;
  readonly time?: string | undefined;
  readonly data: unknown;
}

const structured = z
  .object({
    specversion: z.string(),
    type: limitedText(1024, 1),
    id: optionalText,
    source: optionalText,
    subject: optionalText,
    time: optionalText,
    data: z.unknown().optional(),
    data_base64: z.string().nullish().catch(undefined),
  })
  .transform(({ type, id, source, subject, time, data, data_base64: encoded }): CloudEvent => ({
    type,
    ...filled({ id, source, subject, time }),
    data: data === undefined && encoded ? decode(encoded) : data,
  }));

/**
 * The events of a delivery: one in the structured or binary mode, several in a batch. An entry of a batch that is not a CloudEvent is undefined.
 * Throws MalformedBody if the delivery contains no CloudEvent at all.
 */
export function readCloudEvents(delivery: Delivery): readonly (CloudEvent | undefined)[] {
  const binary = readBinaryCloudEvent(delivery);
  if (binary !== undefined) return [binary];
  const document = parseJsonBody(z.unknown(), delivery.body);
  const events = (readEntries(document) ?? [document]).map(readStructuredCloudEvent);
  if (events.every((event) => event === undefined)) throw new MalformedBody('not a CloudEvent');
  return events;
}

/** Reads an event of the structured mode; undefined if the value is not a CloudEvent. */
export function readStructuredCloudEvent(document: unknown): CloudEvent | undefined {
  return structured.safeParse(document).data;
}

/** Reads an event of the binary mode, with its attributes in headers and its data in the body; undefined if the headers contain none. Throws MalformedBody. */
export function readBinaryCloudEvent(delivery: Delivery): CloudEvent | undefined {
  const contentType = headerOf(delivery, 'content-type')?.trim().toLowerCase() ?? '';
  if (contentType.startsWith('application/cloudevents')) return undefined;
  const attribute = (name: string) => decodePercent(headerOf(delivery, `ce-${name}`)?.slice(0, 4096));
  const type = attribute('type');
  if (!type || attribute('specversion') === undefined) return undefined;
  const [id, source, subject, time] = [attribute('id'), attribute('source'), attribute('subject'), attribute('time')];
  return {
    type,
    ...filled({ id, source, subject, time }),
    data: parseJsonBody(z.unknown(), delivery.body),
  };
}

function decode(base64: string): unknown {
  try {
    return parseJsonBody(z.unknown(), Buffer.from(base64, 'base64'));
  } catch (error) {
    if (error instanceof MalformedBody) return undefined;
    throw error;
  }
}

/** Decodes a header value, whose non-ASCII characters are percent-encoded; a value that cannot be decoded is returned unchanged. */
function decodePercent(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
