/** Schema of the setting `record`: where the record of activity is kept for good. */
import { defined } from '../../core/model/defined.ts';
import { z } from 'zod';
import { always, duration, secretReference } from './scalars.ts';
import type { SettingProblem } from './schema-problems.ts';
import { openSecret } from './secrets.ts';

const s3 = z
  .strictObject({
    bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket')
      .describe('The name of the bucket. It must exist.'),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/, 'a region such as eu-central-1')
      .default('us-east-1')
      .describe('The region, with which requests are signed.'),
    endpoint: z
      .url({ protocol: /^https?$/, hostname: /./, error: 'a URL such as https://minio.example.com:9000' })
      .refine(
        (url) => URL.canParse(url) && new URL(url).username === '' && new URL(url).search === '',
        'must be without a login and a query',
      )
      .optional()
      .describe(
        'The URL of a service that is not Amazon S3. It must support conditional writes (`If-None-Match: *`): MinIO, Ceph and Cloudflare R2 do.',
      ),
    prefix: z
      .string()
      .max(512)
      .regex(/^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*$/, 'letters, digits, dots, dashes and underscores, with "/" at the end of each part')
      .default('')
      .describe('What the names of all objects begin with: `clusters/prod-eu/`.'),
    accessKeyId: secretReference.optional().describe('The id of the access key. Without it, the AWS identity of the pod is used.'),
    secretAccessKey: secretReference.optional().describe('The secret of the access key.'),
  })
  .refine(({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined), {
    error: 'accessKeyId and secretAccessKey go together',
    ...always,
  });

/** Schema of the durable record; without it, the record is in Redis alone. */
export const record = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe('A folder, which must exist. All workers must have the same one: a volume that they share.'),
    s3: s3.optional().describe('A bucket with the API of S3, instead of a folder.'),
    interval: duration
      .refine((value) => value >= 1_000 && value <= 3_600_000, 'must be from 1s to 1h')
      .prefault('1m')
      .describe('How often new entries are written. What is not yet written is in Redis.'),
  })
  .refine(({ folder, s3: bucket }) => (folder === undefined) !== (bucket === undefined), {
    error: 'name either a folder or s3',
    ...always,
  })
  .optional()
  .describe(
    'Keeps the record of activity for good, as CloudEvents that are chained by hashes. Off unless a place is set. See [The record](operations/record.md).',
  );

/** Where the record is kept, with the current credentials. */
export interface RecordSettings {
  readonly intervalMs: number;
  readonly place:
    | { readonly folder: string }
    | {
        readonly bucket: string;
        readonly region: string;
        readonly endpoint: string;
        readonly prefix: string;
        /** Absent if the AWS identity of the process is used. */
        readonly key?: () => { readonly accessKeyId: string; readonly secretAccessKey: string };
      };
}

/** Resolves the settings of the record; undefined if it is off. */
export function openRecordSettings(
  config: z.output<typeof record>,
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: RecordSettings | undefined; readonly problems: readonly SettingProblem[] } {
  if (config === undefined) return { settings: undefined, problems: [] };
  const { folder, s3: of, interval: intervalMs } = config;
  if (of === undefined) return { settings: { intervalMs, place: { folder: folder ?? '' } }, problems: [] };
  const { accessKeyId, secretAccessKey, endpoint = `https://s3.${of.region}.amazonaws.com`, ...others } = of;
  const id = accessKeyId && openSecret(accessKeyId, env);
  const secret = secretAccessKey && openSecret(secretAccessKey, env);
  const problems = Object.entries({ accessKeyId: id?.problem, secretAccessKey: secret?.problem }).flatMap(([name, message]) =>
    message === undefined ? [] : [{ keys: ['record', 's3', name], message }],
  );
  const key = id && secret && (() => ({ accessKeyId: id.read(), secretAccessKey: secret.read() }));
  return { settings: { intervalMs, place: { ...others, endpoint, ...defined({ key }) } }, problems };
}
