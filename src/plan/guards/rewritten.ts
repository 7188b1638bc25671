import type { Guard } from './guard.ts';
import { lastChange } from './last-change.ts';

/** Admission may make another image of the one that was asked for: what it answered then is what was wanted, or we would ask for ever. */
export const rewritten: Guard = {
  id: 'rewritten',
  bindsRollback: false,
  judge(target, context) {
    const { tag, digest } = context.candidate;
    const containers = target.changes.filter(({ container, from, to }) => {
      const last = lastChange(target, container, context);
      const isSame = last?.tag === tag && (digest === undefined || last.digest === undefined || last.digest === digest);
      return isSame && last.image === from && !isPlain(from, to, last.digest);
    });
    if (containers.length === 0) return undefined;
    const images = containers.map(({ from }) => from).join(' and ');
    const message = `runs ${images}, which is what the cluster made of ${tag}`;
    return { kind: 'kept', reason: 'UpToDate', message, containers: containers.map(({ container }) => container) };
  },
};

/** The image that was asked for, in one of its two forms: the policy may have been changed from the one to the other. */
function isPlain(image: string, to: string, digest: string | undefined): boolean {
  const [withoutDigest = to] = to.split('@');
  return image === withoutDigest || image === `${withoutDigest}@${digest}`;
}
