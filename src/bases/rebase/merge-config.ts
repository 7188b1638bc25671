/** The configuration of a rebased image: values inherited from the old base are replaced by those of the new base, and the application's own stay. */
import { isSame, variables, wholeFields } from '../recognize/settings.ts';
import type { ConfigDocument, HistoryEntry, PlatformContent, RunConfig, Texts } from './content.ts';

/** An image of one platform, and the images of the two bases for it. */
export interface Bases<T> {
  readonly application: T;
  readonly oldBase: T;
  readonly newBase: T;
}

const platformFields = ['os.version', 'os.features'] as const;

/** Merges the configurations, and sets `labels` as well. Fields that describe only the build of the application are left out. */
export function mergeConfig(images: Bases<PlatformContent>, labels: Texts = {}): ConfigDocument {
  const { application, oldBase, newBase } = map(images, ({ config }) => config);
  const merged: Record<string, unknown> = { ...application };
  for (const name of Object.keys(merged)) if (/^moby\.buildkit\.|^container(?:_config)?$/.test(name)) delete merged[name];
  for (const name of platformFields) set(merged, name, inherited(application[name], oldBase[name], newBase[name]));
  set(merged, 'created', latest(application.created, newBase.created));
  const diffIds = [...newBase.rootfs.diff_ids, ...application.rootfs.diff_ids.slice(oldBase.rootfs.diff_ids.length)];
  set(merged, 'history', mergeHistory({ application, oldBase, newBase }));
  return {
    ...merged,
    os: application.os,
    architecture: application.architecture,
    config: mergeRunConfig(
      map({ application, oldBase, newBase }, ({ config }) => config ?? {}),
      labels,
    ),
    rootfs: { ...application.rootfs, diff_ids: diffIds },
  };
}

function mergeRunConfig({ application, oldBase, newBase }: Bases<RunConfig>, labels: Texts): RunConfig {
  const merged: Record<string, unknown> = { ...application };
  for (const name of wholeFields) set(merged, name, inherited(application[name], oldBase[name], newBase[name]));
  // The command follows the entrypoint: builders reset the command of the base when an image sets an entrypoint.
  if (isInherited(application.Entrypoint, oldBase.Entrypoint)) {
    set(merged, 'Entrypoint', newBase.Entrypoint);
    set(merged, 'Cmd', inherited(application.Cmd, oldBase.Cmd, newBase.Cmd));
  }
  const env = mergeNames(map({ application, oldBase, newBase }, ({ Env }) => variables(Env)));
  set(
    merged,
    'Env',
    Object.entries(env).map(([name, value]) => `${name}=${value}`),
  );
  const merge = (field: 'Labels' | 'ExposedPorts' | 'Volumes') =>
    mergeNames(map({ application, oldBase, newBase }, (config) => config[field] ?? {}));
  set(merged, 'Labels', { ...merge('Labels'), ...labels });
  set(merged, 'ExposedPorts', merge('ExposedPorts'));
  set(merged, 'Volumes', merge('Volumes'));
  return merged;
}

function map<T, R>({ application, oldBase, newBase }: Bases<T>, of: (value: T) => R): Bases<R> {
  return { application: of(application), oldBase: of(oldBase), newBase: of(newBase) };
}

/** Whether the application has the value of its old base. */
export function isInherited(application: unknown, oldBase: unknown): boolean {
  return isSame(application, oldBase);
}

function inherited(application: unknown, oldBase: unknown, newBase: unknown): unknown {
  return isInherited(application, oldBase) ? newBase : application;
}

/** Sets a field, or removes it if its value is empty. */
function set(target: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete target[name];
  else target[name] = value;
}

type Values<T> = Readonly<Record<string, T>>;

/** Merges names: those of the new base first, then those of the application alone. A name that the application removed stays removed. */
function mergeNames<T>({ application, oldBase, newBase }: Bases<Values<T>>): Values<T> {
  const merged = new Map<string, T>();
  for (const [name, value] of Object.entries(newBase)) {
    const isRemoved = Object.hasOwn(oldBase, name) && !Object.hasOwn(application, name);
    if (!isRemoved) merged.set(name, isOwn(name, { application, oldBase }) ? (application[name] ?? value) : value);
  }
  for (const [name, value] of Object.entries(application)) if (isOwn(name, { application, oldBase })) merged.set(name, value);
  return Object.fromEntries(merged);
}

function isOwn<T>(name: string, { application, oldBase }: Omit<Bases<Values<T>>, 'newBase'>): boolean {
  if (!Object.hasOwn(application, name)) return false;
  return !Object.hasOwn(oldBase, name) || JSON.stringify(application[name]) !== JSON.stringify(oldBase[name]);
}

/** The later of two times, in its original form. Builders that do not know the time write the zero time of Go or of Unix. */
export function latest(one: string | undefined, other: string | undefined): string | undefined {
  const [first = Number.NaN, second = Number.NaN] = [one, other].map((text) => Date.parse(text ?? ''));
  if (Number.isNaN(first)) return Number.isNaN(second) ? one : other;
  return second > first ? other : one;
}

/**
 * The history with the entries of the new base instead of those of the old one. Undefined if the application has no history, or one that does not fit its
 * layers. Entries without a layer that follow the last layer of the base belong to the base if its history has them.
 */
function mergeHistory({ application, oldBase, newBase }: Bases<ConfigDocument>): HistoryEntry[] | undefined {
  const own = application.history ?? [];
  if (!fitsLayers(application)) return undefined;
  const old = fitsLayers(oldBase) ? (oldBase.history ?? []) : [];
  const isPrefix =
    old.length > 0 &&
    old.every(({ created_by: by, empty_layer: empty }, index) => {
      const entry = own[index];
      return entry?.created_by === by && (entry?.empty_layer ?? false) === (empty ?? false);
    });
  const kept = own.slice(isPrefix ? old.length : afterLayers(own, oldBase.rootfs.diff_ids.length));
  const base = fitsLayers(newBase) ? (newBase.history ?? []) : newBase.rootfs.diff_ids.map(() => ({ created_by: 'a layer of the base' }));
  return [...base, ...kept];
}

/** Whether the history has an entry for each layer. */
export function fitsLayers({ history, rootfs }: ConfigDocument): boolean {
  return history !== undefined && history !== null && history.filter((entry) => !entry.empty_layer).length === rootfs.diff_ids.length;
}

/** The index of the first entry after the given number of layers. */
function afterLayers(history: readonly HistoryEntry[], count: number): number {
  let left = count;
  for (const [index, entry] of history.entries()) {
    if (left === 0) return index;
    if (!entry.empty_layer) left--;
  }
  return history.length;
}
