/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** What happened, for the people who run `kubectl describe`. */
export interface EventRecord {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, stable. */
  readonly reason: string;
  /** What was being done, UpperCamelCase. */
  readonly action: string;
  readonly message: string;
}

// Limits of events.k8s.io/v1 validation, in bytes.
const maxNoteBytes = 1024;
const maxWordBytes = 128;

/** The `events.k8s.io/v1` Event of a record; `id` makes its name unique. */
export function buildEvent(
  record: EventRecord,
  source: { component: string; instance: string; id: string; at: Date },
): Record<string, unknown> {
  const { regarding, type, reason, action, message } = record;
  // Cluster-scoped subjects have their Events in "default".
  const namespace = regarding.namespace || 'default';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: `${shortenName(regarding.name)}.${source.id}` },
    // A MicroTime has exactly six digits.
    eventTime: source.at.toISOString().replace('Z', '000Z'),
    regarding,
    type,
    reason: cutToBytes(reason, maxWordBytes),
    action: cutToBytes(action, maxWordBytes),
    note: cutToBytes(message, maxNoteBytes),
    reportingController: source.component,
    reportingInstance: cutToBytes(source.instance, maxWordBytes),
  };
}

/** Leaves room for the id; no part of a name may end with a dash. */
function shortenName(name: string): string {
  return name.slice(0, 200).replace(/[-.]+$/, '');
}

/** The text, or as much of it as fits with an ellipsis, never cut inside a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength('…');
  const bytes = Buffer.from(text);
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return `${bytes.subarray(0, end).toString('utf8')}…`;
}
