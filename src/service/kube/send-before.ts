/** Requests that must not be sent late: they may wait for a free connection, and the process may be held up. */
import type { Dispatcher } from 'undici';

/** The request was not sent, because it was too late: nothing has happened. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** Lets a request begin until a time of the monotonic clock (`performance.now()`); a later one fails with NotSentError instead. */
export function sendBefore(latest: number): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      // undici has a connection for it, and has not written to it yet.
      onRequestStart(controller, context: unknown) {
        handler.onRequestStart?.(controller, context);
        const lateMs = performance.now() - latest;
        if (lateMs >= 0) controller.abort(new NotSentError(`it could only be sent ${Math.ceil(lateMs)} ms too late`));
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
}
