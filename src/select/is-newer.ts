/** Whether resourceVersion `a` is later than `b`. Since Kubernetes 1.35 they are comparable numbers for all built-in APIs; anything else: whether they differ. */
export function isNewer(a: string, b: string): boolean {
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) return BigInt(a) > BigInt(b);
  return a !== b;
}
