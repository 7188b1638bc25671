/** The name under which the API server records our changes; it tells them from a human's. */
export const fieldManager = 'image-watcher';
