/** CloudEvents 1.0 over HTTP: whichever way an event travels, one envelope (https://github.com/cloudevents/spec, HTTP protocol binding). */
import { z } from 'zod';
import { limitedText, optionalText, parseJsonBody, readEntries } from './read-payload.ts';
import { headerOf } from './headers.ts';
import { MalformedBody, type Delivery } from './provider.ts';

/** The attributes that are used, and the data as the sender wrote it. */
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
    ...(id && { id }),
    ...(source && { source }),
    ...(subject && { subject }),
    ...(time && { time }),
    data: data === undefined && encoded ? decode(encoded) : data,
  }));

/**
 * The events of a delivery: one of the structured or binary mode, or all of a batch. What is no CloudEvent in a batch is undefined.
 * Throws MalformedBody when the delivery holds no CloudEvent at all.
 */
export function readCloudEvents(delivery: Delivery): readonly (CloudEvent | undefined)[] {
  const binary = readBinaryCloudEvent(delivery);
  if (binary !== undefined) return [binary];
  const document = parseJsonBody(z.unknown(), delivery.body);
  const events = (readEntries(document) ?? [document]).map(readStructuredCloudEvent);
  if (events.every((event) => event === undefined)) throw new MalformedBody('not a CloudEvent');
  return events;
}

/** The event that a JSON object spells out, or undefined when it is none. */
export function readStructuredCloudEvent(document: unknown): CloudEvent | undefined {
  return structured.safeParse(document).data;
}

/** The event whose attributes are headers and whose data is the body; undefined when the headers name none. Throws MalformedBody. */
export function readBinaryCloudEvent(delivery: Delivery): CloudEvent | undefined {
  const contentType = headerOf(delivery, 'content-type')?.trim().toLowerCase() ?? '';
  if (contentType.startsWith('application/cloudevents')) return undefined;
  const attribute = (name: string) => decodePercent(headerOf(delivery, `ce-${name}`)?.slice(0, 4096));
  const type = attribute('type');
  if (!type || attribute('specversion') === undefined) return undefined;
  const [id, source, subject, time] = [attribute('id'), attribute('source'), attribute('subject'), attribute('time')];
  return {
    type,
    ...(id && { id }),
    ...(source && { source }),
    ...(subject && { subject }),
    ...(time && { time }),
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

/** Header values are percent-encoded where they hold more than ASCII; what cannot be decoded was not encoded. */
function decodePercent(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
