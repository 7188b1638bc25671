import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeReadError } from '../../service/config/read-error.ts';

/** A file to be read. */
export interface FoundFile {
  readonly path: string;
  /** Whether the user named the file itself, instead of its folder. */
  readonly isNamed: boolean;
}

/** The files that arguments denote. */
export interface FoundFiles {
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly { readonly path: string; readonly message: string }[];
}

const manifests = /\.(?:ya?ml|json)$/i;
/** Folders that contain no manifests of the user. */
const skipped = /^(?:\..+|node_modules)$/;

/** The files that the arguments name, and all manifests in folders that they name; `-` stays. Each file is listed once, in a stable order. */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const files = new Map<string, FoundFile>();
  const unreadable: { path: string; message: string }[] = [];
  for (const path of new Set(paths)) {
    if (path === '-') files.set(path, { path, isNamed: true });
    else await visit(path, true);
  }
  return { files: [...files.values()], unreadable };

  async function visit(path: string, isNamed: boolean): Promise<void> {
    try {
      const found = await stat(path);
      if (found.isDirectory()) await visitFolder(path);
      else if (isNamed || manifests.test(path)) files.set(path, files.get(path) ?? { path, isNamed });
    } catch (error) {
      unreadable.push({ path, message: describeReadError(error) });
    }
  }

  async function visitFolder(path: string): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const isManifest = manifests.test(entry.name);
      // Symbolic links to folders are not followed, because they may lead in a circle.
      if (entry.isDirectory() ? !skipped.test(entry.name) : isManifest) await visit(join(path, entry.name), false);
    }
  }
}
