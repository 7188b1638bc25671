/** Words the images of a change: the own one and those of its companions. Pure. */
import { defined } from '../model/defined.ts';
import type { HistoryEntry } from '../model/policy-status.ts';

type Images = Pick<HistoryEntry, 'container' | 'from' | 'to' | 'alongside'>;

/** What a change made of each container: `web from a:1 to a:2, proxy from b:1 to b:2`. One that stayed as it was is left out. */
export function describeImages(change: Images): string {
  return movesOf(change)
    .map(({ container, from, to }) => `${container} from ${from} to ${to}`)
    .join(', ');
}

/** Describes the images of a change that was rolled back: `web from a:2 back to a:1, proxy from b:2 back to b:1`. */
export function describeImagesBack(change: Images): string {
  return movesOf(change)
    .map(({ container, from, to }) => `${container} from ${to} back to ${from}`)
    .join(', ');
}

/** The images that changes brought, each once: `a:2 and b:2`. */
export function listImages(changes: readonly Images[]): string {
  return [...new Set(changes.flatMap(movesOf).map(({ to }) => to))].join(' and ');
}

function movesOf({ container, from, to, alongside = [] }: Images): readonly Omit<Images, 'alongside'>[] {
  const all = [{ container, to, ...defined({ from }) }, ...alongside];
  const moved = all.filter((one) => one.from !== one.to);
  return moved.length === 0 ? all : moved;
}
