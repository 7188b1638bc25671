import type { Candidate } from './image-reference.ts';
import type { Reason } from './reasons.ts';

/** What an error may be about. */
interface About extends ErrorOptions {
  /** The image that it is about, if there would be none with another image. */
  readonly image?: Candidate;
}

/** The user must act before a retry can succeed. The policy becomes Stalled, and there is no retry unless the error has a `retryAt`. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
  readonly reason: Reason;
  /** When to retry, if the problem may resolve itself and nothing else would cause a retry. */
  readonly retryAt: Date | undefined;
  readonly image: Candidate | undefined;

  constructor(reason: Reason, message: string, { retryAt, image, ...options }: About & { readonly retryAt?: Date } = {}) {
    super(message, options);
    this.reason = reason;
    this.retryAt = retryAt;
    this.image = image;
  }
}

/** Nothing can be done before `until`, for example because of a registry's Retry-After. The reconcile is requeued for that time. */
export class WaitError extends Error {
  override readonly name = 'WaitError';
  readonly reason: Reason;
  readonly until: Date;
  readonly image: Candidate | undefined;

  constructor(reason: Reason, until: Date, message: string, { image, ...options }: About = {}) {
    super(message, options);
    this.reason = reason;
    this.until = until;
    this.image = image;
  }
}

const maxCauses = 5;

/** The message of any thrown value, with the messages of its causes. Of several simultaneous causes, the first is used. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  for (let depth = 0; depth < maxCauses && current !== undefined && current !== null; depth++) {
    // Node's error for a refused connection has no message, but one error for each address.
    if (current instanceof AggregateError && current.message === '') current = current.errors[0] ?? current.name;
    const message = current instanceof Error ? current.message || current.name : toText(current);
    if (!parts.some((part) => part.includes(message))) parts.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(': ');
}

function toText(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
