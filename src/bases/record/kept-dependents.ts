/**
 * All dependents of a BaseImagePolicy, of which the status has the first twenty. They are kept in Redis, so that every replica shows the same list: what is missing
 * there is written again by the next reconcile, and the status is right where the two differ.
 */
import { z } from 'zod';
import { type BaseStatus, type Dependent, dependentSchema } from '../../core/model/base-status.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { inSlices } from '../../core/async/in-parallel.ts';
import { within } from '../../core/async/deadline.ts';
import { hashId } from '../../core/model/push-event.ts';

/** The dependents that the last reconcile has found. */
export interface KeptDependents {
  /** The digest of the base that they were compared with. */
  readonly base: string;
  readonly dependents: readonly Dependent[];
}

export interface DependentsStore {
  /** Keeps the dependents. Never rejects. */
  keep(policy: Owner, kept: KeptDependents): Promise<void>;
  /** The dependents; undefined if none are kept, or if Redis does not answer. */
  read(policy: Owner): Promise<KeptDependents | undefined>;
}

type Owner = Pick<BaseImagePolicy, 'uid'>;

/** A store of texts that may lose any of them. */
interface TextStore {
  has(key: string): Promise<boolean>;
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

/** The limits of the store in Redis: how many policies, and the length of the list of each. */
export const keptLimits = { limit: 100, maxText: 1_048_576 } as const;
const maxKept = 5_000;
/** What has not changed is written again after this time, long before it expires. */
const rewriteMs = 3_600_000;
const readMs = 2_000;

const stored = z.object({ base: z.string().max(160), dependents: z.array(z.unknown()).max(maxKept) });

/** Creates the store on texts in Redis. */
export function createDependentsStore(texts: TextStore, now: () => number): DependentsStore {
  const written = new BoundedMap<string, { readonly hash: string; readonly at: number }>(keptLimits.limit);
  return {
    async keep({ uid }, kept) {
      const text = write(kept);
      const before = written.get(uid);
      const hash = hashId([text]);
      const isFresh = before?.hash === hash && Math.abs(now() - before.at) < rewriteMs;
      if (isFresh && (await texts.has(uid))) return;
      written.set(uid, { hash, at: now() });
      await texts.write(uid, text);
    },
    async read({ uid }) {
      const text = await within(readMs, texts.read(uid));
      return text === undefined ? undefined : await parse(text);
    },
  };
}

/** Writes as many dependents as fit, those that are behind first. */
function write({ base, dependents }: KeptDependents): string {
  const entries: string[] = [];
  let length = base.length + 64;
  for (const dependent of dependents.slice(0, maxKept)) {
    const entry = JSON.stringify(dependent);
    length += Buffer.byteLength(entry) + 1;
    if (length > keptLimits.maxText) break;
    entries.push(entry);
  }
  return `{"base":${JSON.stringify(base)},"dependents":[${entries.join(',')}]}`;
}

/** Others may be permitted to write to Redis: a text that does not fit counts as missing. The event loop goes on between dependents. */
async function parse(text: string): Promise<KeptDependents | undefined> {
  try {
    const { base, dependents } = stored.parse(JSON.parse(text));
    const found: Dependent[] = [];
    await inSlices(dependents, AbortSignal.timeout(readMs), (one) => void found.push(dependentSchema.parse(one)));
    return { base, dependents: found };
  } catch {
    return undefined;
  }
}

/** The dependents of a status, and those that are kept besides. Kept ones that were compared with another base are left out. */
export function joinDependents({ latest, dependents = [] }: BaseStatus, kept: KeptDependents | undefined): readonly Dependent[] {
  if (kept === undefined || kept.base !== latest?.digest) return dependents;
  const shown = new Set(dependents.map(({ image }) => image));
  return [...dependents, ...kept.dependents.filter(({ image }) => !shown.has(image))];
}
