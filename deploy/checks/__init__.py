"""What `make doctor` looks at, a module for each part of a deployment."""

# What helps where something is not as the template says.
REDEPLOY = "Deploy again, and change nothing by hand"
