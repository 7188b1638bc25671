/** What files show of the distribution of a base: the paths of real images, and layers as registries have them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { addOsRelease, addSign, type FileSigns } from '../../../src/bases/rebase/file-signs.ts';
import { createFileSigns } from '../../../src/bases/rebase/read-file-signs.ts';
import { header, tar } from './build.ts';
import { digestFor, image } from './samples.ts';

const { signal } = new AbortController();
const source = { registry: 'registry.example.com', path: 'library/java' };

/** Paths as the layers of these images name them. */
const distributions: Record<string, readonly [paths: readonly string[], expected: FileSigns]> = {
  'alpine:3.22': [['bin/busybox', 'lib/apk/db/installed', 'lib/ld-musl-x86_64.so.1'], { packages: 'apk', libc: 'musl' }],
  'alpine:3.23, merged usr': [['usr/lib/apk/db/installed', 'usr/lib/ld-musl-aarch64.so.1'], { packages: 'apk', libc: 'musl' }],
  'wolfi-base': [['usr/lib/apk/db/installed', 'usr/lib/libc.so.6', 'usr/lib/ld-linux-x86-64.so.2'], { packages: 'apk', libc: 'glibc' }],
  'debian:12': [['usr/lib/x86_64-linux-gnu/libc.so.6', 'var/lib/dpkg/status'], { packages: 'dpkg', libc: 'glibc' }],
  'ubuntu:24.04 for arm64': [['usr/lib/ld-linux-aarch64.so.1', 'var/lib/dpkg/status'], { packages: 'dpkg', libc: 'glibc' }],
  'distroless/base-debian12': [['var/lib/dpkg/status.d/libc6', './lib/x86_64-linux-gnu/libc.so.6'], { packages: 'dpkg', libc: 'glibc' }],
  ubi9: [['usr/lib64/ld-linux-x86-64.so.2', 'var/lib/rpm/rpmdb.sqlite'], { packages: 'rpm', libc: 'glibc' }],
  'fedora:43': [['usr/lib/sysimage/rpm/rpmdb.sqlite', 'usr/lib64/libc.so.6'], { packages: 'rpm', libc: 'glibc' }],
  archlinux: [['var/lib/pacman/local/glibc-2.42-1/desc', 'usr/lib/libc.so.6'], { packages: 'pacman', libc: 'glibc' }],
  'distroless/static': [['etc/passwd', 'etc/ssl/certs/ca-certificates.crt'], {}],
  'an application that brings a library of its own': [['opt/app/lib/libc.so.6', 'srv/var/lib/dpkg/status'], {}],
};

describe('the paths in images of distributions', () => {
  for (const [name, [paths, expected]] of Object.entries(distributions))
    test(`show the package manager and the C library of ${name}`, () => assert.deepEqual(paths.reduce(addSign, {}), expected));

  // Only a scan that goes through the path once ends within the life of this test.
  test('are not scanned repeatedly, however long they are', { timeout: 60_000 }, () => {
    for (const path of ['lib/ld-linux', 'lib/ld-musl-', 'usr/lib64/', 'var/lib/dpkg/status.d/'])
      for (const part of ['.so.', '-', 'a', '/'])
        assert.equal(addSign({}, `${path}${part.repeat(4_000_000 / part.length)}\n!`).libc, undefined);
  });
});

/** The os-release of these images, as far as it is read. */
const releases: Record<string, readonly [text: string, expected: FileSigns]> = {
  'alpine:3.22': ['NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.1\n', { system: 'alpine', release: 3 }],
  'debian:12': ['VERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n', { system: 'debian', release: 12 }],
  'ubuntu:24.04': ['NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n', { system: 'ubuntu', release: 24 }],
  'distroless/base-debian12': ['NAME="Debian GNU/Linux"\nID="debian"\nVERSION_ID="12"\n', { system: 'debian', release: 12 }],
  ubi9: ['ID="rhel"\nID_LIKE="fedora"\nVERSION_ID="9.6"\nPLATFORM_ID="platform:el9"\n', { system: 'rhel', release: 9 }],
  'amazonlinux:2023': ['ID="amzn"\nID_LIKE="fedora"\nVERSION_ID="2023"\n', { system: 'amzn', release: 2023 }],
  'chainguard, which rolls': ['ID=chainguard\nNAME="Chainguard"\nVERSION_ID="20230214"\n', { system: 'chainguard' }],
  'archlinux, which rolls': ['ID=arch\nBUILD_ID=rolling\n', { system: 'arch' }],
  'no os-release': ['Debian 12\n', {}],
};

describe('the os-release of distributions', () => {
  for (const [name, [text, expected]] of Object.entries(releases))
    test(`shows the name and the release of ${name}`, () => assert.deepEqual(addOsRelease({}, text), expected));

  test('counts where it is found first', () =>
    assert.deepEqual(addOsRelease({ system: 'debian', release: 12 }, 'ID=ubuntu\nVERSION_ID=24'), { system: 'debian', release: 12 }));
});

const alpine = tar({ 'lib/apk/db/installed': 'P:musl', 'lib/ld-musl-x86_64.so.1': 'ELF' }, 'linux/amd64');
const app = tar({ 'opt/java/bin/java': 'java' }, 'linux/amd64');
const signsOfAlpine = { packages: 'apk', libc: 'musl' };
const oci = 'application/vnd.oci.image.layer.v1.tar';

/** Reads the layers of a base from a registry that has them. */
async function read(
  layers: readonly (readonly [type: string, bytes: Buffer | undefined, size?: number])[],
  times = 1,
  maxUnpacked?: number,
) {
  const blobs = new Map(layers.map(([, bytes], index) => [digestFor(`layer ${index}`), bytes]));
  const reads: string[] = [];
  const [plain] = image('library/java', { layers: layers.map((_, index) => `l${index}`).join(' ') }).platforms;
  assert.ok(plain);
  const described = layers.map(([mediaType, bytes, size = bytes?.length ?? 1], index) => ({
    mediaType,
    digest: digestFor(`layer ${index}`),
    size,
    urls: null,
    annotations: null,
  }));
  const base = { ...plain, manifest: { ...plain.manifest, layers: described } };
  const registry = { readBlob: (_: unknown, digest: string) => Promise.resolve((reads.push(digest), blobs.get(digest))) };
  const readFileSigns = createFileSigns(registry, { ...(maxUnpacked && { maxUnpacked }) });
  let found: FileSigns | undefined;
  for (let time = 0; time < times; time++) found = await readFileSigns(source, base, signal);
  return { found, reads: reads.length };
}

describe('the layers of a base', () => {
  test('are read in every compression that registries use', async () => {
    for (const layer of [
      [`${oci}+gzip`, gzipSync(alpine)],
      [`${oci}+zstd`, zstdCompressSync(alpine)],
      [oci, alpine],
    ] as const)
      assert.deepEqual((await read([layer])).found, signsOfAlpine);
    const docker = ['application/vnd.docker.image.rootfs.diff.tar.gzip', gzipSync(alpine)] as const;
    assert.deepEqual((await read([docker])).found, signsOfAlpine);
  });

  test('are read from the lowest until package manager and C library are known, and each layer once', async () => {
    const layers = [
      [oci, app],
      [oci, alpine],
      [oci, app],
    ] as const;
    assert.deepEqual(await read(layers, 3), { found: signsOfAlpine, reads: 2 });
  });

  const osRelease = (text: string) => ({ 'etc/os-release': text, 'lib/apk/db/installed': 'P:musl', 'lib/ld-musl-x86_64.so.1': 'ELF' });

  test('show the distribution and its release', async () => {
    const named = { ...signsOfAlpine, system: 'alpine', release: 3 };
    const text = 'ID=alpine\nVERSION_ID=3.22.1\n';
    assert.deepEqual((await read([[`${oci}+gzip`, gzipSync(tar(osRelease(text), ''))]])).found, named);
    // Where it comes after both other signs, and as a link to it, which has no content.
    const later = tar({ ...osRelease(''), 'usr/lib/os-release': text }, '');
    assert.deepEqual((await read([[oci, later]])).found, named);
  });

  test('show package manager and C library also if the rest of a layer is unreadable or its os-release is too long', async () => {
    const truncated = gzipSync(Buffer.concat([alpine.subarray(0, -1024), tar({ a: randomBytes(500_000).toString('hex') }, '')]));
    assert.deepEqual((await read([[`${oci}+gzip`, truncated.subarray(0, -100_000)]])).found, signsOfAlpine);
    assert.deepEqual((await read([[oci, tar(osRelease(`ID=alpine\n${'#'.repeat(70_000)}`), '')]])).found, signsOfAlpine);
  });

  test('show nothing if they contain no known file', async () => assert.deepEqual((await read([[oci, app]])).found, {}));

  const unreadable: Record<string, readonly [type: string, bytes: Buffer | undefined, size?: number]> = {
    'a layer that the registry does not have': [oci, undefined],
    'a layer that is too large': [oci, alpine, 48 * 1024 * 1024 + 1],
    'a layer that is not compressed as its type says': [`${oci}+gzip`, alpine],
    'a layer that ends too early': [`${oci}+gzip`, gzipSync(app).subarray(0, 60)],
    'a layer that is no archive': [oci, Buffer.alloc(4_096, 'x')],
    'a layer that is compressed although its type says that it is not': [oci, gzipSync(alpine)],
    'a layer that is compressed twice': [`${oci}+gzip`, gzipSync(gzipSync(alpine))],
  };
  for (const [name, layer] of Object.entries(unreadable))
    test(`show nothing because of ${name}`, async () => assert.equal((await read([layer])).found, undefined));

  test('delay a rebase if the registry does not deliver them, but do not prevent it', async () => {
    const [base] = image('library/java', { layers: 'os' }).platforms;
    assert.ok(base);
    let isDown = true;
    const registry = { readBlob: () => (isDown ? Promise.reject(new Error('timed out')) : Promise.resolve(Buffer.from(''))) };
    const readFileSigns = createFileSigns(registry);
    for (let time = 0; time < 2; time++) await assert.rejects(readFileSigns(source, base, signal), /timed out/);
    assert.equal(await readFileSigns(source, base, signal), undefined);
    isDown = false;
    assert.equal(await readFileSigns(source, base, signal), undefined, 'it is not asked for again');
  });

  test('are unpacked up to a bound, so that they cannot use up memory or time', async () => {
    const large = zstdCompressSync(Buffer.concat([tar({ a: 'x'.repeat(1_000_000) }, ''), alpine]));
    assert.ok(large.length < 10_000);
    assert.equal((await read([[`${oci}+zstd`, large]], 1, 500_000)).found, undefined);
  });

  test('end at their end mark, as for a container runtime', async () =>
    assert.deepEqual((await read([[oci, Buffer.concat([app, alpine])]])).found, {}));

  test('let the event loop continue between two pieces, also if a layer is not compressed', async () => {
    let turns = 0;
    let isRead = false;
    const count = () => {
      turns++;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const pieces = 40;
    await read([[oci, tar({ a: 'x'.repeat(pieces * 64 * 1024) }, '')]]);
    isRead = true;
    assert.ok(turns >= pieces, `${turns} turns`);
  });

  test('are read past the metadata of a file that are longer than a path can be', async () => {
    const record = (size: number) => Buffer.concat([header('PaxHeader', size, 'x'), Buffer.alloc(size, `${size} path=lib/libc.so.6`)]);
    assert.deepEqual((await read([[oci, Buffer.concat([record(128 * 1024), alpine])]])).found, signsOfAlpine);
  });
});
