import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findS3Server } from './binaries.ts';
import { flags } from './flags.ts';
import { type Faults, startServer } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** A real server with the API of S3, and one bucket. */
export type S3 = Faults & {
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The folder that has each object as a file. */
  readonly folder: string;
  stop(): Promise<void>;
};

/** Starts the server on a free loopback port. `conditional`: whether it refuses what `If-None-Match` forbids; without its metadata it does not. */
export async function startS3({ conditional = true }: { readonly conditional?: boolean } = {}): Promise<S3> {
  const root = tempFolder('s3');
  const [bucket, key] = ['audit', { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }];
  const [objects, sidecar] = [join(root, 'objects'), join(root, 'sidecar')];
  mkdirSync(join(objects, bucket), { recursive: true });
  mkdirSync(sidecar);
  const server = await startServer({
    name: 's3',
    command: await findS3Server(),
    portCount: 1,
    args: ([port]) => [
      '--quiet',
      ...flags({ port: `127.0.0.1:${port}`, access: key.accessKeyId, secret: key.secretAccessKey }),
      'posix',
      ...(conditional ? ['--sidecar', sidecar] : ['--nometa']),
      objects,
    ],
    isReady: async ([port]) => {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      return answer.headers.get('server') === 'VERSITYGW';
    },
  });
  return {
    ...server,
    stop: () => server.stop(),
    endpoint: `http://127.0.0.1:${server.ports[0]}`,
    bucket,
    key,
    folder: join(objects, bucket),
  };
}
