"""The tables and figures of Nguyen and Hui (2017) beside ours."""
