import { createHash } from 'node:crypto';

export type PushAuth = { user: string; password: string } | { token: string };

export type PushTarget = { host: string; repository: string; tag: string; auth?: PushAuth };

/** What the tag points at after a push. */
export type Pushed = { digest: string; mediaType: string };

/** What a manifest says of a blob. */
export type Descriptor = { mediaType: string; digest: string; size: number };

const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const ociIndex = 'application/vnd.oci.image.index.v1+json';

/** Pushes a small image as a real client does: blobs, then the manifest under the tag. Other `content` makes another digest; `created` is its own word. */
export async function pushImage({
  content = 'image',
  created,
  labels,
  annotations,
  ...target
}: PushTarget & {
  content?: string;
  created?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}): Promise<Pushed> {
  const manifest = await pushContent(target, 'amd64', content, { created, labels });
  return putManifest(target, target.tag, ociManifest, { ...manifest, ...(annotations && { annotations }) });
}

/** Pushes an image of several platforms: an index under the tag, which names one image for each architecture. */
export async function pushIndex({
  content = 'image',
  architectures = ['amd64', 'arm64'],
  ...target
}: PushTarget & { content?: string; architectures?: string[] }): Promise<Pushed> {
  const manifests: object[] = [];
  for (const architecture of architectures) {
    const manifest = await pushContent(target, architecture, content);
    const bytes = Buffer.from(JSON.stringify(manifest));
    const { digest, mediaType } = await putManifest(target, digestOf(bytes), ociManifest, manifest);
    manifests.push({ mediaType, digest, size: bytes.length, platform: { os: 'linux', architecture } });
  }
  return putManifest(target, target.tag, ociIndex, { schemaVersion: 2, mediaType: ociIndex, manifests });
}

/** Pushes a Helm chart as helm does: a manifest like that of an image, with another configuration. Other `content` makes another digest. */
export async function pushChart({
  created = '2026-01-01T00:00:00Z',
  content = 'chart',
  ...target
}: PushTarget & { created?: string; content?: string }): Promise<Pushed> {
  const config = await pushBlob(target, 'application/vnd.cncf.helm.config.v1+json', Buffer.from(JSON.stringify({ name: target.tag })));
  const layers = [await pushBlob(target, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', Buffer.from(content))];
  const annotations = { 'org.opencontainers.image.created': created };
  return putManifest(target, target.tag, ociManifest, { schemaVersion: 2, mediaType: ociManifest, config, layers, annotations });
}

async function pushContent(
  target: PushTarget,
  architecture: string,
  content: string,
  { created, labels }: { created?: string | undefined; labels?: Record<string, string> | undefined } = {},
): Promise<object> {
  const layerBytes = Buffer.from(content);
  const config = {
    ...(created && { created }),
    architecture,
    os: 'linux',
    config: labels === undefined ? {} : { Labels: labels },
    rootfs: { type: 'layers', diff_ids: [digestOf(layerBytes)] },
  };
  return {
    schemaVersion: 2,
    mediaType: ociManifest,
    config: await pushBlob(target, 'application/vnd.oci.image.config.v1+json', Buffer.from(JSON.stringify(config))),
    layers: [await pushBlob(target, 'application/vnd.oci.image.layer.v1.tar', layerBytes)],
  };
}

/** Uploads a blob. */
export async function pushBlob(target: PushTarget, mediaType: string, bytes: Buffer): Promise<Descriptor> {
  const digest = digestOf(bytes);
  const start = await send(target, 'POST', `/v2/${target.repository}/blobs/uploads/`);
  const upload = new URL(start.headers.get('location') ?? '', `http://${target.host}`);
  upload.searchParams.set('digest', digest);
  await send(target, 'PUT', `${upload.pathname}${upload.search}`, { type: 'application/octet-stream', bytes });
  return { mediaType, digest, size: bytes.length };
}

/** Writes a manifest under a tag or its own digest. */
export async function putManifest(target: PushTarget, reference: string, mediaType: string, manifest: object): Promise<Pushed> {
  const bytes = Buffer.from(JSON.stringify(manifest));
  await send(target, 'PUT', `/v2/${target.repository}/manifests/${reference}`, { type: mediaType, bytes });
  return { digest: digestOf(bytes), mediaType };
}

/** Reads the manifest of a tag or a digest; undefined if there is none. */
export async function readManifest({ host, repository, auth }: PushTarget, reference: string): Promise<unknown> {
  const headers = { accept: `${ociManifest}, ${ociIndex}`, ...(auth && { authorization: authorizationOf(auth) }) };
  const response = await fetch(`http://${host}/v2/${repository}/manifests/${reference}`, { headers });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`GET manifest ${reference} at ${host}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function send(target: PushTarget, method: string, path: string, body?: { type: string; bytes: Buffer }): Promise<Response> {
  const { auth } = target;
  const headers = {
    ...(auth && { authorization: authorizationOf(auth) }),
    ...(body && { 'content-type': body.type }),
  };
  const response = await fetch(`http://${target.host}${path}`, { method, headers, ...(body && { body: new Uint8Array(body.bytes) }) });
  if (!response.ok) throw new Error(`${method} ${path} at ${target.host}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}

function authorizationOf(auth: PushAuth): string {
  return 'token' in auth ? `Bearer ${auth.token}` : `Basic ${Buffer.from(`${auth.user}:${auth.password}`).toString('base64')}`;
}

/** `sha256:…` of the bytes. */
export const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
