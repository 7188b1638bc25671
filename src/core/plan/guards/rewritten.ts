import type { Guard } from './guard.ts';
import { lastChange } from './last-change.ts';

/** Treats an image that admission has rewritten as applied. Otherwise we would patch it again forever. */
export const rewritten: Guard = {
  id: 'rewritten',
  bindsRollback: false,
  check(target, context) {
    const { tag, digest } = context.candidate;
    const containers = target.changes.filter(({ container, from, to }) => {
      const last = lastChange(target, container, context);
      const isSame = last?.tag === tag && (digest === undefined || last.digest === undefined || last.digest === digest);
      return isSame && last.image === from && !isPlain(from, to, last.digest);
    });
    if (containers.length === 0) return undefined;
    const images = containers.map(({ from }) => from).join(' and ');
    const message = `runs ${images}, which is what the cluster made of ${tag}`;
    return { kind: 'blocked', reason: 'UpToDate', message, containers: containers.map(({ container }) => container) };
  },
};

/** Whether an image is the written one, with or without its digest. The policy's pin may have been changed since. */
function isPlain(image: string, to: string, digest: string | undefined): boolean {
  const [withoutDigest = to] = to.split('@');
  return image === withoutDigest || image === `${withoutDigest}@${digest}`;
}
