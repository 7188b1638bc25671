import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { describeError } from '../../model/errors.ts';
import type { KubeClient } from '../client.ts';
import { isKubeError } from '../kube-error.ts';
import type { ConversionClient } from './merge-crd.ts';

/** The object that is sent, and the version in which it is wanted back. */
export interface ProbeSample {
  readonly object: object;
  readonly desiredApiVersion: string;
}

const timeoutMs = 10_000;

/**
 * Sends a small ConversionReview to the endpoint: to a URL directly, to a Service through the API server's proxy (which does not check its certificate). Throws an
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
      ...(signal && { signal }),
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
    return '; you may not use the Service through the API server: allow it ("create" on "services/proxy"), or say --skip-probe';
  return '; start the service with the role convert, and wait until it is ready. Where it does answer, but cannot be reached from here, say --skip-probe';
}

function problemOf(answer: unknown, uid: string, apiVersion: string): string | undefined {
  const { response } = (answer ?? {}) as {
    response?: { uid?: string; result?: { status?: string; message?: string }; convertedObjects?: { apiVersion?: string }[] };
  };
  if (!response) return 'its answer is not a ConversionReview with a response';
  if (response.result?.status !== 'Success') return response.result?.message ?? 'it answers without success and without a reason';
  if (response.uid !== uid) return 'it answers with another uid than that of the request';
  const [converted] = response.convertedObjects ?? [];
  return converted?.apiVersion === apiVersion
    ? undefined
    : `it answers with ${converted?.apiVersion ?? 'no object'} instead of ${apiVersion}`;
}
