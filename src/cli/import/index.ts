/** The importers, in the order of the help. */
import type { Importer } from './importer.ts';
import { argocdImageUpdater } from './argocd-image-updater.ts';
import { flux } from './flux.ts';
import { keel } from './keel.ts';

export const importers: readonly Importer[] = [keel, flux, argocdImageUpdater];
