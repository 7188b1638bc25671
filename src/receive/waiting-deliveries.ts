/** Deliveries that wait until Redis confirms them: bounded by the memory that they take, for they pile up while Redis hangs. */

/** What all of them may take together: thousands of ordinary ones, and far from the container's memory. */
const mostBytes = 64 * 1024 * 1024;
/** Of each delivery: the request, its connection, promises. */
const bytesPerDelivery = 10_000;
/** Of each push: the event, and the command on its way to Redis. */
const bytesPerPush = 3_000;

/** Lets a delivery of that size wait, and answers the function that ends it; undefined when too many wait already. */
export type StartWaiting = (size: { readonly bodyBytes: number; readonly pushes: number }) => (() => void) | undefined;

/** One for each listener. A delivery of any size may wait alone. */
export function boundWaiting(): StartWaiting {
  let waitingBytes = 0;
  return ({ bodyBytes, pushes }) => {
    const bytes = bytesPerDelivery + bodyBytes + pushes * bytesPerPush;
    if (waitingBytes > 0 && waitingBytes + bytes > mostBytes) return undefined;
    waitingBytes += bytes;
    return () => void (waitingBytes -= bytes);
  };
}
