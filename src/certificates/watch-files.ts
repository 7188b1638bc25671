import { readFileSync } from 'node:fs';
import { repeat, type Repetition } from '../async/repeat.ts';
import { checkServingPair, type ServingPair } from './serving-pair.ts';

/** Where somebody else (cert-manager, an administrator) keeps a certificate. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authority that API servers are to trust, where we have to tell them. */
  readonly caFile?: string | undefined;
}

export interface WatchFilesOptions {
  readonly files: CertificateFiles;
  readonly onPair: (pair: ReturnType<typeof checkServingPair>, caBundle: string | undefined) => void;
  /** The files cannot be used as they are now; told once for each reason. */
  readonly onProblem: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * Reads the files every two seconds and hands on what is new and whole: the kubelet swaps a symlink to the folder, which events of the file system
 * announce differently on every platform, and a pair that is read in the middle of that fails its check and is read again.
 */
export function watchCertificateFiles({ files, onPair, onProblem, everyMs = 2_000 }: WatchFilesOptions): Repetition {
  let known = '';
  const look = () => {
    const read = readFiles(files);
    const text = JSON.stringify(read);
    if (text !== known) {
      onPair(checkServingPair(read), read.caBundle);
      known = text;
    }
  };
  return repeat(look, { everyMs, backoffMs: () => everyMs, onProblem });
}

/** In one go, and in this order: no change of our own process comes between, and a state of the files has one reason why it cannot be read. */
function readFiles({ certFile, keyFile, caFile }: CertificateFiles): ServingPair & { caBundle: string | undefined } {
  return {
    certificate: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
    caBundle: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
  };
}
