/** Whether resourceVersion `a` is later than `b`. Kubernetes 1.35 made them comparable numbers for all its own APIs; for anything else: whether they differ. */
export function isNewer(a: string, b: string): boolean {
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) return BigInt(a) > BigInt(b);
  return a !== b;
}
