/** Signs requests to S3 with AWS Signature Version 4. */
import { defined } from '../../core/model/defined.ts';
import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentity, HttpRequest, Provider } from '@smithy/types';

export type { AwsCredentialIdentity };
/** Reads the current credentials. */
export type ReadCredentials = Provider<AwsCredentialIdentity>;

/** A request to S3, without its signature. */
export interface PlainRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** SHA-256 of Node, in the shape that the signer asks for. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('a hash is used once');
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

/** Creates the signer of one bucket; it returns the headers to send. */
export function createSigner(region: string, credentials: ReadCredentials): (request: PlainRequest) => Promise<Record<string, string>> {
  // Keys are escaped once in S3, unlike in other services of AWS.
  const signer = new SignatureV4({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false });
  return async ({ method, url, headers = {}, body }) => {
    const request: HttpRequest = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...headers },
      ...defined({ body }),
    };
    const { host: _, ...signed } = (await signer.sign(request)).headers;
    return signed;
  };
}
