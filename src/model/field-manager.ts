/** The name under which the API server records our changes; it distinguishes them from manual ones. */
export const fieldManager = 'image-watcher';
