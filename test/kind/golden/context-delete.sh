# 1/4 Check that npm run kind has created the namespaces
kubectl --context prod get namespaces --selector created-by=npm-run-kind --field-selector metadata.name=image-watcher --output name   # ends here if the answer is not the expected one

# 2/4 Delete the example, while the service is there
kubectl --context prod delete namespaces --selector created-by=npm-run-kind --field-selector metadata.name=shop

# 3/4 Uninstall the chart. The definitions stay, because deleting them deletes all policies
helm uninstall image-watcher --kube-context prod --namespace image-watcher --ignore-not-found --wait

# 4/4 Delete the other namespaces
kubectl --context prod delete namespaces --selector created-by=npm-run-kind --field-selector metadata.name=image-watcher-registry
kubectl --context prod delete namespaces --selector created-by=npm-run-kind --field-selector metadata.name=image-watcher
