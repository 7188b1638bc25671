/**
 * `verify` of senders that can be given nothing but a URL: nothing in their requests proves who they are. The secret is the last part
 * of the URL, which the receiver checks itself; a short one is refused at the start.
 */
export function provesNothing(): boolean {
  return false;
}
