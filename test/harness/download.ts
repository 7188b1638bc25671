import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sha256Of } from './binary-cache.ts';
import { withProgress } from './progress.ts';
import { runCommand } from './run-command.ts';
import { tempFolder } from './temp-folder.ts';
import { etcdVersion, kubernetesVersion } from './tools.ts';

// Without a way out the answer must come quickly, because building is next.
const firstAnswerMs = 4_000;
const silenceMs = 30_000;

const goArch = arch() === 'x64' ? 'amd64' : arch();

/** Downloads a Kubernetes server program to `path` from the place that the project publishes it, checked against the published checksum. */
export async function downloadKubernetes(name: string, path: string): Promise<void> {
  const url = `https://dl.k8s.io/release/${kubernetesVersion}/bin/${platform()}/${goArch}/${name}`;
  await downloadChecked({ url, checksumUrl: `${url}.sha256`, path });
}

/** Downloads etcd likewise, out of the release's archive. */
export async function downloadEtcd(path: string): Promise<void> {
  const base = `etcd-${etcdVersion}-${platform()}-${goArch}`;
  const archive = platform() === 'linux' ? `${base}.tar.gz` : `${base}.zip`;
  const release = `https://github.com/etcd-io/etcd/releases/download/${etcdVersion}`;
  const folder = tempFolder('download');
  await downloadChecked({ url: `${release}/${archive}`, checksumUrl: `${release}/SHA256SUMS`, path: join(folder, archive) });
  await runCommand('tar', ['-xf', archive], { cwd: folder });
  await runCommand('cp', [join(folder, base, 'etcd'), path]);
}

/** Downloads `url` to `path`; a file whose SHA-256 is not the published one is an error and leaves nothing at `path`. */
export async function downloadChecked({ url, checksumUrl, path }: { url: string; checksumUrl: string; path: string }): Promise<void> {
  const name = url.split('/').at(-1) as string;
  const expected = checksumFor(name, await (await get(checksumUrl)).text());
  const unchecked = `${path}.unchecked`;
  await withProgress(`downloading ${name}`, async () => {
    const body = (await get(url)).body;
    if (!body) throw new Error(`${url}: empty answer`);
    await withoutSilence((signal, heard) =>
      pipeline(
        Readable.fromWeb(body),
        async function* (chunks: AsyncIterable<Uint8Array>) {
          for await (const chunk of chunks) {
            heard();
            yield chunk;
          }
        },
        createWriteStream(unchecked),
        { signal },
      ),
    );
    const actual = await sha256Of(unchecked);
    if (actual !== expected) throw new Error(`${url} has the checksum ${actual}, but ${expected} is published`);
  });
  await rename(unchecked, path);
}

// Either a bare checksum, or lines of "checksum  file".
function checksumFor(name: string, text: string): string {
  const lines = text.trim().split('\n');
  const line = lines.length === 1 ? lines[0] : lines.find((line) => line.trim().endsWith(` ${name}`));
  const checksum = /^[0-9a-f]{64}/i.exec(line ?? '')?.[0];
  if (!checksum) throw new Error(`no checksum is published for ${name}`);
  return checksum.toLowerCase();
}

const unreachable = new Set<string>();

async function get(url: string): Promise<Response> {
  const { host } = new URL(url);
  if (unreachable.has(host)) throw new Error(`${host} could not be reached a moment ago`);
  const response = await firstAnswer(url).catch((error: Error) => {
    unreachable.add(host);
    throw new Error(`${url}: ${error.cause instanceof Error ? error.cause.message : error.message}`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response;
}

// The deadline is for the answer's head; the body may take its time.
async function firstAnswer(url: string): Promise<Response> {
  const tooLate = new AbortController();
  const timer = setTimeout(() => tooLate.abort(new Error(`no answer within ${firstAnswerMs / 1_000} s`)), firstAnswerMs);
  try {
    return await fetch(url, { signal: tooLate.signal });
  } finally {
    clearTimeout(timer);
  }
}

async function withoutSilence(work: (signal: AbortSignal, heard: () => void) => Promise<void>): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`nothing received for ${silenceMs / 1_000} s`)), silenceMs);
  try {
    await work(silence.signal, () => timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}
