# 1/2 Check that npm run kind has created the cluster
k3d cluster list --no-headers   # ends here if the answer is not the expected one
kubectl --kubeconfig /home/user/kubeconfig --context k3d-image-watcher get nodes --selector created-by=npm-run-kind --output name   # ends here if the answer is not the expected one

# 2/2 Delete the cluster image-watcher
k3d cluster delete image-watcher
