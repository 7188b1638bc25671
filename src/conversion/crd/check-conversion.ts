import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { type ConversionClient, type CustomResourceDefinition, objectsPath, storageVersionOf } from '../../service/kube/crd/definition.ts';
import { isKubeError, KubeError } from '../../service/kube/kube-error.ts';
import { listPages } from '../../service/kube/objects.ts';
import { isTransient, pause } from '../../service/kube/retry.ts';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';

/** What to check, the timeout, and where to report progress. */
export interface ConversionCheck {
  readonly crd: CustomResourceDefinition;
  /** An object to create as a dry run; its version must not be the storage version. */
  readonly sample: { readonly apiVersion: string } & Record<string, unknown>;
  /** How long the conversion may fail after the API server has begun to serve the version. */
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const pageSize = 500;
/** How long an API server may answer that it does not serve the version. */
const unknownMs = 30_000;

/**
 * Makes the API server itself use the webhook, over its own network and with the configured certificate. It creates an object as a dry run, and reads all
 * objects in every version. Throws on timeout. Returns the number of objects that were read.
 */
export async function checkConversion(client: KubeClient, check: ConversionCheck): Promise<number> {
  const { crd, sample, onProgress, signal } = check;
  const version = sample.apiVersion.replace(/^.*\//, '');
  if (version === storageVersionOf(crd)) throw new Error(`${version} is the storage version: reading and writing it converts nothing`);
  const unknownUntil = performance.now() + unknownMs;
  let deadline: number | undefined;
  for (let attempt = 0; ; attempt++) {
    try {
      await dryRun(client, objectsPath(crd, version, 'default'), sample, { onProgress, signal });
      const served = crd.spec.versions.filter(({ served }) => served !== false);
      const counts = await Promise.all(served.map(({ name }) => readAll(client, objectsPath(crd, name), signal)));
      return Math.max(...counts);
    } catch (error) {
      // Nothing has been converted yet, so a 404 does not concern the webhook.
      const unknown = isKubeError(error, 404);
      if (!unknown && !isKubeError(error, 410) && !isTransient(error)) throw error;
      if (!unknown) deadline ??= performance.now() + check.timeoutMs;
      if (performance.now() >= (deadline ?? unknownUntil))
        throw new Error(`the API server cannot convert: ${describeError(error)}`, { cause: error });
      await pause(error, attempt, { random: Math.random, signal });
    }
  }
}

async function dryRun(
  client: KubeClient,
  path: string,
  body: object,
  { onProgress, signal }: { readonly onProgress: (message: string) => void; readonly signal: AbortSignal | undefined },
): Promise<void> {
  try {
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body, signal });
  } catch (error) {
    // Admission rules or missing permissions refused the request. This is not a failure of the conversion.
    if (!(error instanceof KubeError) || ![400, 403, 409, 422].includes(error.status)) throw error;
    onProgress(`the conversion could not be tested with a dry run: ${error.detail}`);
  }
}

async function readAll(client: KubeClient, path: string, signal: AbortSignal | undefined): Promise<number> {
  let count = 0;
  for await (const { items } of listPages(client, { path, pageSize, ...defined({ signal }) })) count += items.length;
  return count;
}

/** The object to send, and the version to convert it to. */
export interface ProbeSample {
  readonly object: object;
  readonly desiredApiVersion: string;
}

const timeoutMs = 10_000;

/**
 * Sends a small ConversionReview to the endpoint: a URL directly, or a Service through the API server's proxy, which does not check the certificate. Throws an
 * Error that says what is wrong and what to do.
 */
export async function probeConversion(
  client: KubeClient,
  endpoint: ConversionClient,
  sample: ProbeSample,
  signal?: AbortSignal,
): Promise<void> {
  const uid = randomUUID();
  const { object, desiredApiVersion } = sample;
  const review = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid, desiredAPIVersion: desiredApiVersion, objects: [object] },
  };
  const where = endpoint.url ?? `Service ${endpoint.service?.namespace}/${endpoint.service?.name}`;
  let answer: unknown;
  try {
    answer = await (endpoint.url === undefined
      ? askService(client, endpoint, review, signal)
      : askUrl(endpoint.url, endpoint, review, signal));
  } catch (error) {
    throw new Error(`the conversion endpoint (${where}) does not answer: ${describeError(error)}${adviceFor(error)}`, { cause: error });
  }
  const problem = problemOf(answer, uid, desiredApiVersion);
  if (problem !== undefined) throw new Error(`the conversion endpoint (${where}) does not convert: ${problem}`);
}

async function askUrl(url: string, { caBundle }: ConversionClient, review: object, signal: AbortSignal | undefined): Promise<unknown> {
  const agent = new Agent({ connect: { ...(caBundle !== undefined && { ca: Buffer.from(caBundle, 'base64') }), timeout: timeoutMs } });
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(review),
      dispatcher: agent,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      ...defined({ signal }),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`status ${statusCode}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  } finally {
    await agent.close();
  }
}

function askService(client: KubeClient, { service }: ConversionClient, review: object, signal: AbortSignal | undefined): Promise<unknown> {
  if (!service) throw new Error('the definition names neither a service nor a url');
  const { namespace, name, port = 443, path = '' } = service;
  const proxy = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/https:${encodeURIComponent(name)}:${port}/proxy`;
  return client.request({ method: 'POST', path: `${proxy}${path}`, body: review, timeoutMs, signal });
}

function adviceFor(error: unknown): string {
  if (isKubeError(error, 403))
    return '; you may not reach the Service through the API server: grant "create" on "services/proxy", or use --skip-probe';
  return '; start the service with the role convert, and wait until it is ready. If it answers, but cannot be reached from here, use --skip-probe';
}

function problemOf(answer: unknown, uid: string, apiVersion: string): string | undefined {
  const { response } = (answer ?? {}) as {
    response?: { uid?: string; result?: { status?: string; message?: string }; convertedObjects?: { apiVersion?: string }[] };
  };
  if (!response) return 'its response is not a ConversionReview with a response';
  if (response.result?.status !== 'Success') return response.result?.message ?? 'it reports a failure without a message';
  if (response.uid !== uid) return 'its response has another uid than the request';
  const [converted] = response.convertedObjects ?? [];
  return converted?.apiVersion === apiVersion ? undefined : `it returns ${converted?.apiVersion ?? 'no object'} instead of ${apiVersion}`;
}
