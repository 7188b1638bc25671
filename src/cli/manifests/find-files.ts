import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../core/model/errors.ts';

/** A file to be read. */
export interface FoundFile {
  readonly path: string;
  /** Whether it was named itself, not found in a folder. */
  readonly isNamed: boolean;
}

/** What the arguments stand for. */
export interface FoundFiles {
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly { readonly path: string; readonly message: string }[];
}

const manifests = /\.(?:ya?ml|json)$/i;
/** Folders that hold no manifests of the user's own. */
const skipped = /^(?:\..+|node_modules)$/;

/** The files that the arguments name, and all manifests in the folders that they name; `-` stays as it is. Each once, in a stable order. */
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
      unreadable.push({ path, message: describeError(error) });
    }
  }

  async function visitFolder(path: string): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const isManifest = manifests.test(entry.name);
      // A link to a folder may lead in a circle.
      if (entry.isDirectory() ? !skipped.test(entry.name) : isManifest) await visit(join(path, entry.name), false);
    }
  }
}
