/** The certificate of a TLS listener: checks it, or reads it from files that somebody else maintains. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { repeat, type Repetition } from '../../core/async/repeat.ts';

/** A certificate with its chain, and its key, both in PEM. */
export interface ServingPair {
  readonly certificate: string;
  readonly key: string;
}

/** Checks that a listener can use the pair; throws an Error that says what is wrong with it. */
export function checkServingPair(pair: ServingPair): ServingPair & { readonly notAfter: Date } {
  const leaf = new X509Certificate(pair.certificate);
  if (!leaf.checkPrivateKey(createPrivateKey(pair.key))) throw new Error('the key does not belong to the certificate');
  // Checks that OpenSSL can read the rest of the chain.
  createSecureContext({ cert: pair.certificate, key: pair.key });
  return { certificate: pair.certificate, key: pair.key, notAfter: leaf.validToDate };
}

/** The files in which cert-manager or an administrator maintains a certificate. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authority that API servers must trust, if it is to be written to the CustomResourceDefinition. */
  readonly caFile?: string | undefined;
}

export interface WatchFilesOptions {
  readonly files: CertificateFiles;
  readonly onPair: (pair: ReturnType<typeof checkServingPair>, caBundle: string | undefined) => void;
  /** Called once for each reason why the files cannot be used. */
  readonly onProblem: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * Reads the files every two seconds and reports valid changes. Polling is used because the kubelet swaps a symlink to the folder, which file system events
 * report differently on each platform. A pair that is read during the swap fails its check and is read again.
 */
export function watchCertificateFiles({ files, onPair, onProblem, everyMs = 2_000 }: WatchFilesOptions): Repetition {
  let known = '';
  const check = () => {
    const read = readFiles(files);
    const text = JSON.stringify(read);
    if (text !== known) {
      onPair(checkServingPair(read), read.caBundle);
      known = text;
    }
  };
  return repeat(check, { everyMs, backoffMs: () => everyMs, onProblem });
}

/** Reads synchronously and in this order, so that the same state of the files always has the same error. */
function readFiles({ certFile, keyFile, caFile }: CertificateFiles): ServingPair & { caBundle: string | undefined } {
  return {
    certificate: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
    caBundle: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
  };
}
