/** Every image that anybody changed, with the record that our changes write beside it. */
import { fieldManager } from '../../src/core/model/last-update.ts';
import { isObject, textOrEmpty, type JsonObject } from '../../src/core/model/untyped.ts';
import type { ApiObject, ApiServer, Change } from './api-server.ts';
import { heldBy, isChartResource } from './chart-kinds.ts';
import { partsOf, shorten } from './images.ts';
import type { Version } from './process.ts';
import type { Story } from './story.ts';

export interface ImagePatch {
  readonly at: number;
  /** When the request was sent. */
  readonly sentAt: number;
  readonly by: string;
  /** Whether it is a change of the service, not of a person. */
  readonly isOurs: boolean;
  readonly process: string;
  /** The configuration of that process. */
  readonly version: Version;
  readonly resource: string;
  readonly before: ApiObject;
  readonly after: ApiObject;
  readonly container: string;
  readonly from: string;
  readonly to: string;
  /** Whether it is the change of a companion, whose record is beside that of the policy's own image. */
  readonly isCompanion: boolean;
  /** Whether a workload has run the new image before. */
  readonly isKnown: boolean;
  /** What the record on the workload says; empty for changes of others. `tag`: only where the image does not contain it. */
  readonly record: { readonly [Field in 'policy' | 'trigger' | 'at' | 'tag' | 'digest' | 'setDigest' | 'failed' | 'event']: string };
}

/** The tag of an image that was applied, also where it is written by its digest alone. */
export function appliedTag({ to, record }: Pick<ImagePatch, 'to' | 'record'>): string {
  return partsOf(to).tag || record.tag;
}

export interface PatchLog {
  readonly all: readonly ImagePatch[];
  onPatch(listener: (patch: ImagePatch) => void): void;
}

export function createPatchLog(server: ApiServer, story: Story): PatchLog {
  const all: ImagePatch[] = [];
  const listeners: ((patch: ImagePatch) => void)[] = [];
  server.onChange((change) => {
    for (const made of patchesIn(change)) {
      const ran = (image: string) => all.some((one) => one.container === made.container && (one.from === image || one.to === image));
      const patch = { ...made, isKnown: ran(made.to) };
      const { name } = patch.after.metadata;
      const why = patch.isOurs ? ` (${patch.record.trigger})` : '';
      story.tell(
        patch.isOurs ? patch.process : patch.by,
        `changes ${name} ${patch.container}: ${shorten(patch.from)} → ${shorten(patch.to)}${why}`,
      );
      for (const listener of listeners) listener(patch);
      all.push(patch);
    }
  });
  return { all, onPatch: (listener) => void listeners.push(listener) };
}

function patchesIn({ at, by, resource, before, after, request }: Change): Omit<ImagePatch, 'isKnown'>[] {
  if (before === undefined || after === undefined || !(resource.startsWith('apps/') || isChartResource(resource))) return [];
  const old = heldBy(before);
  return [...heldBy(after)].flatMap(([container, to]): Omit<ImagePatch, 'isKnown'>[] => {
    const from = old.get(container) ?? '';
    if (from === to) return [];
    const { sentAt = at, process = by, version = 'older' } = request ?? {};
    const isOurs = by === fieldManager;
    return [
      {
        at,
        sentAt,
        by,
        isOurs,
        process,
        version,
        resource,
        before,
        after,
        container,
        from,
        to,
        ...(isOurs ? readRecord(after, container, to) : { record: noRecord, isCompanion: false }),
      },
    ];
  });
}

const noRecord: ImagePatch['record'] = { policy: '', trigger: '', at: '', tag: '', digest: '', setDigest: '', failed: '', event: '' };

const prefix = 'last-update.operator.technomad.dev/';

function readRecord(
  { metadata: { annotations = {} } }: ApiObject,
  container: string,
  to: string,
): Pick<ImagePatch, 'record' | 'isCompanion'> {
  const records = Object.entries(annotations).flatMap(([key, text]): [string, JsonObject][] => {
    const value: unknown = key.startsWith(prefix) ? JSON.parse(text) : undefined;
    return isObject(value) ? [[key.slice(prefix.length), value]] : [];
  });
  const own = records.find(([name]) => name === container)?.[1];
  const changes = (record: JsonObject) => (Array.isArray(record['alongside']) ? record['alongside'].filter(isObject) : []);
  const other = records.find(([, record]) => changes(record).some((one) => one['container'] === container && one['to'] === to))?.[1];
  const record = own ?? other ?? {};
  const read = (field: keyof ImagePatch['record']) => textOrEmpty(record[field]);
  return {
    record: {
      policy: read('policy'),
      trigger: read('trigger'),
      at: read('at'),
      tag: read('tag'),
      digest: read('digest'),
      setDigest: read('setDigest'),
      failed: read('failed'),
      event: read('event'),
    },
    isCompanion: own === undefined && other !== undefined,
  };
}
