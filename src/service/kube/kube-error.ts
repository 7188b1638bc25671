import { parseJson } from '../../core/model/untyped.ts';
import { parseRetryAfter } from '../../core/async/backoff.ts';
import { defined } from '../../core/model/defined.ts';

/** One entry of a Status' `details.causes`: which field was refused, and why. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The fields of a `v1 Status` that are used. It is the API server's answer to a failed request, and is also sent inside watches. */
export interface KubeStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[] };
}

/** Thrown if the API server answered with status >= 400. `reason` and `causes` come from its Status body, `retryAfterMs` from the Retry-After header. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly status: number;
  readonly reason: string;
  /** The API server's message, without the request. */
  readonly detail: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(
    call: string,
    status: number,
    answer: { reason?: string; message?: string; causes?: readonly StatusCause[]; retryAfterMs?: number },
  ) {
    const detail = shorten(answer.message ?? 'no message');
    super(`${call}: ${[status, answer.reason].filter(Boolean).join(' ')}: ${detail}`);
    this.status = status;
    this.reason = answer.reason ?? '';
    this.detail = detail;
    this.causes = (answer.causes ?? []).map((cause) =>
      cause.message === undefined ? cause : { ...cause, message: shorten(cause.message) },
    );
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** Whether an error is an answer of the API server with this status. */
export function isKubeError(error: unknown, status: number): error is KubeError {
  return error instanceof KubeError && error.status === status;
}

/** The error for a response with status >= 400. Proxies and load balancers send text instead of a Status. */
export function kubeErrorFromAnswer(
  call: string,
  { status, body, retryAfter }: { readonly status: number; readonly body: string; readonly retryAfter: string | undefined },
  now: number,
): KubeError {
  const parsed = parseStatus(body);
  const retryAfterMs = parseRetryAfter(retryAfter, now);
  return kubeErrorFromStatus(call, { message: body.trim().slice(0, 200) || 'empty answer', ...parsed, code: status }, retryAfterMs);
}

/** The error for a Status, for example of a watch's ERROR event. */
export function kubeErrorFromStatus(call: string, status: KubeStatus, retryAfterMs?: number): KubeError {
  return new KubeError(call, status.code ?? 500, {
    ...defined({ reason: status.reason, message: status.message }),
    ...(Array.isArray(status.details?.causes) && { causes: status.details.causes }),
    ...defined({ retryAfterMs }),
  });
}

// The length limit of messages. A refused patch's message contains the whole object, with environment variables that conditions must not show.
const maxMessageLength = 500;

function shorten(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)}…`;
}

function parseStatus(body: string): KubeStatus | undefined {
  const parsed = parseJson(body);
  return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
}
