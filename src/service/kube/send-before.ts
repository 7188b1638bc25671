/** Limits when a request is sent. It may wait for a free connection, and the process may be delayed. */
import type { Dispatcher } from 'undici';

/** Thrown if a request was not sent because it was too late. Nothing has happened at the server. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** Lets a request begin until a time of the monotonic clock (`performance.now()`). A later one fails with NotSentError. */
export function sendBefore(latest: number): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      // At this moment, undici has a connection for the request, and has not written to it yet.
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
