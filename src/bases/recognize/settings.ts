/**
 * The settings that an image inherits from its base: environment, user, entrypoint and the like. Two versions of a base with the same layers may differ in them
 * alone, for example if a variable switches a faulty feature off. They are compared by digests, because their values may be secret.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';

/** The digest of each setting that has a value, by the digest of its name. */
export type Settings = z.output<typeof settingsSchema>;

const digestPattern = /^[0-9a-f]{8}$/;
const maxSettings = 256;

export const settingsSchema = z
  .record(z.string().regex(digestPattern), z.string().regex(digestPattern))
  .refine((settings) => Object.keys(settings).length <= maxSettings)
  .readonly();

/** The fields that are inherited as a whole. https://github.com/opencontainers/image-spec/blob/main/config.md#properties */
export const wholeFields = ['User', 'WorkingDir', 'StopSignal', 'Healthcheck', 'StopTimeout', 'Shell'] as const;
const single = [...wholeFields, 'Entrypoint', 'Cmd'] as const;
const sets = ['ExposedPorts', 'Volumes'] as const;

/** The settings in the field `config` of a configuration; undefined if there are more than 256. Labels are none: they describe an image, and change nothing. */
export function settingsOf(config: Readonly<Record<string, unknown>> = {}): Settings | undefined {
  const named: [name: string, value: string][] = [];
  for (const field of single) if (!isEmpty(config[field])) named.push([field, JSON.stringify(config[field])]);
  const { Env: environment } = config;
  for (const [name, value] of Object.entries(variables(Array.isArray(environment) ? environment.filter(isText) : [])))
    named.push([`Env ${name}`, value]);
  for (const field of sets) for (const name of Object.keys(config[field] ?? {})) named.push([`${field} ${name}`, '']);
  if (named.length > maxSettings) return undefined;
  return Object.fromEntries(named.map(([name, value]) => [short(name), short(value)]));
}

/** One digest for all settings. */
export function fingerprintOf(settings: Settings): string {
  return hash('sha256', JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 16);
}

/** The one of several bases with the same layers from which an image has inherited most settings; of equal ones, the first. */
export function closestBase<B>(image: Settings, bases: readonly B[], settingsOf: (base: B) => Settings | undefined): B | undefined {
  const known = bases.flatMap((base) => {
    const settings = settingsOf(base);
    return settings === undefined ? [] : [{ base, settings }];
  });
  const names = new Set(known.flatMap(({ settings }) => Object.keys(settings)));
  const scored = known.map(({ base, settings }) => ({ base, score: [...names].filter((name) => image[name] === settings[name]).length }));
  return scored.toSorted((a, b) => b.score - a.score)[0]?.base;
}

/** Whether an image has a setting of its base that is another one in the new base, so that a rebase would replace it. */
export function inheritsOther(image: Settings, base: Settings, newBase: Settings): boolean {
  return Object.keys({ ...base, ...newBase }).some((name) => base[name] !== newBase[name] && image[name] === base[name]);
}

/** Whether two values of a field are the same. A field that is missing, null or empty has no value. `/` is the default working directory. */
export function isSame(one: unknown, other: unknown): boolean {
  return (isEmpty(one) && isEmpty(other)) || JSON.stringify(one) === JSON.stringify(other);
}

/** The variables of `Env`. Of several with the same name, the last counts. */
export function variables(env: readonly string[] | null | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (env ?? []).map((entry) => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1)];
    }),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === '/') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 8);
}
