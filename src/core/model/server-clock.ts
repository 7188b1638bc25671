/** Told when a request was answered, by the clock of the API server: to be compared with times that the cluster recorded. */
export type OnAnswered = (at: Date) => void;
