import { readFile } from 'node:fs/promises';
import { repeat, type Repetition } from './repeat.ts';
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
  const look = async () => {
    const read = await readFiles(files);
    const text = JSON.stringify(read);
    if (text !== known) {
      onPair(checkServingPair(read), read.caBundle);
      known = text;
    }
  };
  return repeat(look, { everyMs, backoffMs: () => everyMs, onProblem });
}

async function readFiles({ certFile, keyFile, caFile }: CertificateFiles): Promise<ServingPair & { caBundle: string | undefined }> {
  const [certificate, key, caBundle] = await Promise.all([
    readFile(certFile, 'utf8'),
    readFile(keyFile, 'utf8'),
    caFile === undefined ? undefined : readFile(caFile, 'utf8'),
  ]);
  return { certificate, key, caBundle };
}
